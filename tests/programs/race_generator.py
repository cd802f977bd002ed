"""One generator shared by threads: 'generator already executing' is caught and counted.

Varies: who got which value, how many ValueErrors.
"""

import threading
from zlib import crc32


def squares(limit):
    for number in range(limit):
        yield square(number)


def square(number):
    total = 0
    for _ in range(number % 10):
        total += number
    return total


source = squares(300)
taken = []
errors = {}


def work(name):
    while True:
        try:
            taken.append((name, next(source)))
        except StopIteration:
            return
        except ValueError as error:
            errors[name, str(error)] = errors.get((name, str(error)), 0) + 1


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("taken", len(taken), crc32(repr(taken).encode()))
print("per thread", [sum(name == who for who, _ in taken) for name in range(4)])
print("errors", sorted(errors.items()))
