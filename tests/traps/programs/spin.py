"""A loop that ends only if the other thread runs. Nothing is wrong here."""

import threading

is_ready = False


def prepare() -> None:
    global is_ready
    is_ready = True


thread = threading.Thread(target=prepare)
thread.start()
while not is_ready:
    pass
thread.join()
