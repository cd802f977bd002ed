"""Merge sort where each half is sorted by a thread of its own: starts and joins in a tree.

Varies: the order in which the parts were finished.
"""

import random
import threading

finished = []


def sort(values, low, high):
    if high - low > 8:
        middle = (low + high) // 2
        other = threading.Thread(target=sort, args=(values, low, middle))
        other.start()
        sort(values, middle, high)
        other.join()
        merge(values, low, middle, high)
    else:
        values[low:high] = sorted(values[low:high])
    finished.append((low, high))


def merge(values, low, middle, high):
    left, right = values[low:middle], values[middle:high]
    for place in range(low, high):
        take_left = left and (not right or left[0] <= right[0])
        values[place] = left.pop(0) if take_left else right.pop(0)


values = random.Random(5).sample(range(1000), 128)
expected = sorted(values)
sort(values, 0, len(values))
print("sorted", values == expected)
print("finished", finished)
