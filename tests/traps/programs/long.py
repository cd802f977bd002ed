"""Two threads that take turns more often than a low step limit allows."""

import threading

value = 0
lock = threading.Lock()


def work() -> None:
    global value
    for _ in range(200):
        with lock:
            value += 1


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert value == 400
