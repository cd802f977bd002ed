"""Condition.wait_for with a Python predicate, over a plain Lock and over an RLock held twice.

Varies: the order, and how often each predicate was evaluated.
"""

import threading

evaluations = {}
order = []


class Stage:
    def __init__(self, lock):
        self.condition = threading.Condition(lock)
        self.level = 0


stages = [Stage(threading.Lock()), Stage(threading.RLock())]


def wait(stage, number, level):
    def is_reached():
        evaluations[number, level] = evaluations.get((number, level), 0) + 1
        return stage.level >= level

    with stage.condition:
        reached = stage.condition.wait_for(is_reached)
        order.append((number, level, stage.level, reached))


def raise_level(stage, number):
    for _ in range(4):
        with stage.condition:
            if number == 1:
                with stage.condition:
                    stage.level += 1
            else:
                stage.level += 1
            stage.condition.notify_all()


threads = []
for number, stage in enumerate(stages):
    for level in (3, 1, 4, 2):
        threads.append(threading.Thread(target=wait, args=(stage, number, level)))
    threads.append(threading.Thread(target=raise_level, args=(stage, number)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for entry in order:
    print(*entry)
print("evaluations", sorted(evaluations.items()))
