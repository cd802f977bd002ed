"""Barrier with an action: the index each thread gets, and who ran the action.

Varies: indices and runner in each round.
"""

import threading

indices = []
runners = []


def act():
    runners.append(threading.current_thread().name)


barrier = threading.Barrier(4, action=act)


def work():
    name = threading.current_thread().name
    for lap in range(6):
        indices.append((lap, name, barrier.wait()))


threads = [threading.Thread(target=work, name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for lap in range(6):
    print("round", lap, [(name, index) for at, name, index in indices if at == lap])
print("runners", "".join(runners), "waiting", barrier.n_waiting)
