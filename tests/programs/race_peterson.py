"""Peterson's algorithm: mutual exclusion of two threads with plain variables only.

Varies: the order of entries and the spins; the counter must not lose anything.
"""

import threading
from zlib import crc32

wants = [False, False]
last = 0
counter = 0
spins = [0, 0]
order = []


def plus_one(value):
    return value + 1


def enter(me):
    global last
    wants[me] = True
    last = me
    while wants[1 - me] and last == me:
        spins[me] += 1


def work(me):
    global counter
    for _ in range(30):
        enter(me)
        counter = plus_one(counter)
        order.append(me)
        wants[me] = False


threads = [threading.Thread(target=work, args=(me,)) for me in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("counter", counter)
print("order", "".join(map(str, order)), crc32(repr(order).encode()))
print("spins", spins)
