"""A sieve made of threads: each prime found starts the next filter of a chain of queues.

Varies: how far each filter had got when the last prime was found.
"""

import queue
import threading

LIMIT = 60

primes = []
passed = {}


def sieve(source):
    prime = source.get()
    if prime is None:
        return
    primes.append(prime)
    passed[prime] = 0
    target = queue.SimpleQueue()
    successor = threading.Thread(target=sieve, args=(target,))
    successor.start()
    while (number := source.get()) is not None:
        if number % prime:
            passed[prime] += 1
            target.put(number)
    target.put(None)
    snapshots.append((prime, dict(passed)))
    successor.join()


snapshots = []
numbers = queue.SimpleQueue()
first = threading.Thread(target=sieve, args=(numbers,))
first.start()
for number in range(2, LIMIT):
    numbers.put(number)
numbers.put(None)
first.join()

print("primes", primes)
print("passed", passed)
for prime, snapshot in snapshots:
    print("when", prime, "ended", sum(snapshot.values()), "had passed in", len(snapshot))
