"""defaultdict, Counter and setdefault raced: factories run twice and their results get lost.

Varies: how many lists were made, how many appended values survive, the counts.
"""

import collections
import threading

made = []


def make_list():
    made.append(None)
    return []


groups = collections.defaultdict(make_list)
plain = {}
counter = collections.Counter()


def group(name):
    for step in range(60):
        groups[step].append(name)
        plain.setdefault(step, make_list()).append(name)
        counter.update(a=1, b=len(make_list()) + 1)
        counter["c"] = counter["c"] + len(groups[step]) // max(1, len(groups[step]))


threads = [threading.Thread(target=group, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("made", len(made))
print("grouped", sum(map(len, groups.values())), "plain", sum(map(len, plain.values())))
print("counter", sorted(counter.items()))
print("first groups", [groups[step] for step in range(8)])
