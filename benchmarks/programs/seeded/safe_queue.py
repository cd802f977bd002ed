"""Safe: objects that go from thread to thread through a queue, one owner at a time."""

import queue
import threading

passed = 0
boxes: "queue.Queue[Box]" = queue.Queue()


class Box:
    """Holds something."""

    def __init__(self) -> None:
        self.content = 0


def give() -> None:
    """Fill in, then put."""
    global passed
    for number in range(50):
        box = Box()
        box.content = number
        passed = number
        boxes.put(box)
        boxes.join()


def take() -> None:
    """Get, then change."""
    global passed
    for _ in range(50):
        box = boxes.get()
        box.content += 1
        passed = passed + 1
        boxes.task_done()


threads = [threading.Thread(target=take), threading.Thread(target=give)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("passed", passed)
