"""Two threads count under a lock, as often as told; exits with 5."""

import sys
import threading

rounds = int(sys.argv[1])
counts = [0, 0]
lock = threading.Lock()


def one_more(value):
    return value + 1


def work(name):
    for _ in range(rounds):
        with lock:
            counts[name] = one_more(counts[name])


threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counts", counts)
sys.exit(5)
