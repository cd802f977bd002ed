"""No thread waits for the others: Python does, as it ends."""

import threading

value = 0
both = threading.Barrier(2)


def work() -> None:
    global value
    seen = value
    value = seen + 1
    both.wait()
    assert value == 2


for _ in range(2):
    threading.Thread(target=work).start()
