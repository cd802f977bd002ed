"""A daemon thread waits for the end of the main thread's work, and fails then."""

import threading

value = 0
ended = threading.Event()


def add() -> None:
    global value
    seen = value
    value = seen + 1


def watch() -> None:
    ended.wait()
    if value != 2:
        raise ValueError("one is lost")


threading.Thread(target=watch, daemon=True).start()
threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ended.set()
