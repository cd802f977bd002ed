"""A forked child that runs on to the end of the program, as the parent does."""

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
    assert value == 2
else:
    os.waitpid(pid, 0)
