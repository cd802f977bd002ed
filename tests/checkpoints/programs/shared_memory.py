"""Memory that processes could share: anonymous maps, and what multiprocessing makes of them."""

import mmap
import threading
from multiprocessing import Array

plain = mmap.mmap(-1, 4096)
array = Array("i", 50)
seen = []


def work(number):
    for turn in range(50):
        plain[turn] = (plain[turn] + turn + number) % 256
        array[turn] += plain[turn]
        seen.append(array[turn])


threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(seen), sum(plain[:50]), sum(array))
