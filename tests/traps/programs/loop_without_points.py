"""A loop in C that never comes back, in one thread."""

import itertools
import threading


def work() -> None:
    all(itertools.repeat(True))


thread = threading.Thread(target=work)
thread.start()
thread.join()
