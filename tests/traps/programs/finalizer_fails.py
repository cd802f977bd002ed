"""An exception in a finaliser, which Python only prints."""

import threading

value = 0


def add() -> None:
    global value
    seen = value
    value = seen + 1


class Checks:
    def __del__(self) -> None:
        assert value == 2


checks = Checks()
threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
del checks
