"""numpy with its own worker threads, among threads of Python's."""

import threading

import numpy

start = numpy.arange(90_000, dtype=float).reshape(300, 300) % 7
results = {}


def work(number):
    value = start + number
    for _ in range(4):
        value = value @ start % 11
    results[number] = float(value.sum())


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
