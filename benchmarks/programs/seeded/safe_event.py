"""Safe: what is written before an event is set, and read after it."""

import threading

message = ""
ready = threading.Event()


class Box:
    """Holds something."""

    def __init__(self) -> None:
        self.content = 0


box = Box()


def give() -> None:
    """Write, then tell."""
    global message
    message = "here"
    box.content = 1
    ready.set()


def take() -> None:
    """Wait, then read and write."""
    global message
    ready.wait()
    message = message + "!"
    box.content += 1


threads = [threading.Thread(target=take), threading.Thread(target=give)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(message, box.content)
