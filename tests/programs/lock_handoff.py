"""Locks released by another thread than the one that took them: a token passed round a ring.

Varies: nothing in the ring; the bystanders' reads of the token do.
"""

import threading
from zlib import crc32

SIZE = 5
LAPS = 15

gates = [threading.Lock() for _ in range(SIZE)]
for gate in gates:
    gate.acquire()
token = 0
passes = []
glimpses = []


def member(place):
    global token
    for _ in range(LAPS):
        gates[place].acquire()
        token += 1
        passes.append(place)
        gates[(place + 1) % SIZE].release()


def bystander():
    for _ in range(100):
        glimpses.append(token)


threads = [threading.Thread(target=member, args=(place,)) for place in range(SIZE)]
threads.append(threading.Thread(target=bystander))
for thread in threads:
    thread.start()
gates[0].release()
for thread in threads:
    thread.join()

print("token", token, "first gate open", not gates[0].locked())
print("passes", crc32(repr(passes).encode()))
print("glimpses", glimpses[:10], glimpses[-3:], crc32(repr(glimpses).encode()))
