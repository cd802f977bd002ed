# reenact-test: layout=yes
"""A set and a dict keyed by plain objects: iteration order of the set depends on addresses.

Varies: that order (printed as order of creation), and what set.pop gave to whom.
"""

import threading


class Token:
    pass


tokens = set()
index = {}
taken = []


def put():
    for _ in range(30):
        token = Token()
        index[token] = len(index)
        tokens.add(token)


def take(name):
    for _ in range(20):
        try:
            taken.append((name, index[tokens.pop()]))
        except KeyError as error:
            taken.append((name, str(error)))


threads = [threading.Thread(target=put) for _ in range(3)]
threads += [threading.Thread(target=take, args=(name,)) for name in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("iteration", [index[token] for token in tokens])
print("taken", taken)
