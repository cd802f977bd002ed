# reenact-test: deadlock=yes
"""Three threads in a ring, each waiting for an item from a queue that the next one feeds.

Never ends: one of them swallows the token, then all are in Queue.get and main in join.
"""

import queue
import threading

boxes = [queue.Queue() for _ in range(3)]


def work(place):
    while True:
        token = boxes[place].get()
        if token == 7:
            print("swallowed by", place, flush=True)
        else:
            boxes[(place + 1) % 3].put(token + 1)


threads = [threading.Thread(target=work, args=(place,)) for place in range(3)]
for thread in threads:
    thread.start()
boxes[0].put(0)
for thread in threads:
    thread.join()
