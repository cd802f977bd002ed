"""ThreadPool.imap_unordered: results as they come.

Varies: their order.
"""

from multiprocessing.pool import ThreadPool


def task(number):
    total = 0
    for step in range((number * 13) % 50):
        total += step
    return number, total


with ThreadPool(4) as pool:
    results = list(pool.imap_unordered(task, range(40)))
    chunked = list(pool.imap_unordered(task, range(24), chunksize=6))

print("order", [number for number, _ in results])
print("chunked", [number for number, _ in chunked])
print("sum", sum(total for _, total in results))
