"""Safe: threads one after another; each is joined before the next one starts."""

import threading

total = 0
entries: list[int] = []


class Box:
    """Holds something."""

    def __init__(self) -> None:
        self.content = 0


box = Box()


def add(number: int) -> None:
    """No lock, since there is nobody else."""
    global total
    total += number
    box.content += number
    entries.insert(0, number)


for number in range(10):
    thread = threading.Thread(target=add, args=(number,))
    thread.start()
    thread.join()
print("total", total, box.content, len(entries))
