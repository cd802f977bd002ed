"""Condition: all waiters woken at once, in rounds (a hand-made barrier with generations).

Varies: the order in each round.
"""

import threading

THREADS = 5
condition = threading.Condition()
arrived = 0
generation = 0
orders = []


def meet(name):
    global arrived, generation
    with condition:
        mine = generation
        arrived += 1
        orders.append((mine, "in", name))
        if arrived == THREADS:
            arrived = 0
            generation += 1
            condition.notify_all()
        else:
            while generation == mine:
                condition.wait()
        orders.append((mine, "out", name))


def work(name):
    for _ in range(8):
        meet(name)


threads = [threading.Thread(target=work, args=(name,)) for name in "abcde"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for lap in range(8):
    entered = "".join(n for g, way, n in orders if g == lap and way == "in")
    left = "".join(n for g, way, n in orders if g == lap and way == "out")
    print("round", lap, "in", entered, "out", left)
