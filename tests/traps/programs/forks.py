"""A race in a forked child, of which the parent never hears."""

import os
import threading

value = 0


def add() -> None:
    global value
    seen = value
    value = seen + 1


pid = os.fork()
if pid == 0:
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(value != 2)
os.waitpid(pid, 0)
