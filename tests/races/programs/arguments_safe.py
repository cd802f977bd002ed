"""Threads get what they work on as arguments, and give it back by being joined."""

import threading


def work(numbers, factor=1):
    for index in range(len(numbers)):
        numbers[index] *= factor


lists = [[1, 2], [3, 4]]
threads = [
    threading.Thread(target=work, args=(lists[0],), kwargs={"factor": 2}),
    threading.Thread(target=work, args=(lists[1],)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert lists == [[2, 4], [3, 4]]
