"""Two locks, taken in both orders."""

import threading
import time

first, second = threading.Lock(), threading.Lock()


def take(one, other):
    with one:
        time.sleep(0.05)
        with other:
            pass


threads = [
    threading.Thread(target=take, args=(first, second)),
    threading.Thread(target=take, args=(second, first)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
