"""`while True: pass` in one thread."""

import threading


def work() -> None:
    while True:
        pass


thread = threading.Thread(target=work)
thread.start()
thread.join()
