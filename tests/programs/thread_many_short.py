"""Three thousand short threads, at most 50 alive at a time.

Varies: the order in which they ran.
"""

import itertools
import threading
from zlib import crc32

COUNT = 3000
BATCH = 50

order = []


def work(number):
    order.append(number)


for first in range(0, COUNT, BATCH):
    threads = [threading.Thread(target=work, args=(n,)) for n in range(first, first + BATCH)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

inversions = sum(a > b for a, b in itertools.pairwise(order))
print("ran", len(order), "inversions", inversions, crc32(repr(order).encode()))
