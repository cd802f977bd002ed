"""functools.cached_property raced: without a lock since 3.12, with one before.

Varies: how often the property was computed and by whom, which value stayed.
"""

import functools
import threading

computations = []


class Page:
    def __init__(self, number):
        self.number = number

    @functools.cached_property
    def text(self):
        computations.append((self.number, threading.current_thread().name))
        return "".join(shift(self.number, step) for step in range(20))


def shift(number, step):
    return chr(97 + (number + step) % 26)


pages = [Page(number) for number in range(12)]
lengths = []


def work(order):
    for number in order:
        lengths.append((number, len(pages[number].text)))


orders = [range(12), range(11, -1, -1), range(12), range(11, -1, -1)]
threads = [
    threading.Thread(target=work, args=(order,), name=f"t{n}") for n, order in enumerate(orders)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("computations", len(computations))
for number in range(12):
    print(number, [name for page, name in computations if page == number])
print("order", [number for number, _ in lengths])
