# reenact-test: layout=yes
"""Objects made by several threads, sorted by id() and by default repr.

Varies: the order by address, printed as order of creation.
"""

import threading

made = []


class Thing:
    def __init__(self):
        self.index = None


def work():
    for _ in range(25):
        thing = Thing()
        junk = [Thing() for _ in range(3)]
        made.append(thing)
        del junk[1:]


threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for index, thing in enumerate(made):
    thing.index = index
print("by id", [thing.index for thing in sorted(made, key=id)])
print("same by repr", sorted(made, key=id) == sorted(made, key=repr))
print("hashes agree", [t.index for t in sorted(made, key=lambda t: id(t) // 16 % 64)])
