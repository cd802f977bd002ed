"""Merge sort: each half of a list is sorted by a thread of its own, and merged after the joins."""

import threading


def merge_sort(numbers):
    if len(numbers) > 4:
        middle = len(numbers) // 2
        halves = [numbers[:middle], numbers[middle:]]
        threads = [threading.Thread(target=merge_sort, args=(half,)) for half in halves]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left, right = halves
        for index in range(len(numbers)):
            takes_left = not right or (left and left[0] <= right[0])
            numbers[index] = left.pop(0) if takes_left else right.pop(0)
    else:
        numbers.sort()


shuffled = [(number * 7) % 16 for number in range(16)]
merge_sort(shuffled)
assert shuffled == list(range(16))
