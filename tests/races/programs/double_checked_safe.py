"""What is made once is looked for and made with the lock."""

import threading

from _shared import Box, run


class Lazy:
    def __init__(self):
        self.lock = threading.Lock()
        self.made = None

    def get(self):
        with self.lock:
            if self.made is None:
                self.made = Box()
                self.made.value = 1
            return self.made


lazy = Lazy()


def use():
    assert lazy.get().value == 1


run(use, use)
