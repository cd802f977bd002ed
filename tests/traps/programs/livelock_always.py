"""A loop that waits for what nobody does."""

import threading

is_ready = False


def wait() -> None:
    while not is_ready:
        pass


thread = threading.Thread(target=wait)
thread.start()
thread.join()
