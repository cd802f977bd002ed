"""A daemon thread that works for ever: nobody knows what it would have done next."""

import threading

value = 0


def work() -> None:
    global value
    while True:
        value += 1


threading.Thread(target=work, daemon=True).start()
