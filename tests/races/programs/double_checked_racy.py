"""Double-checked locking: the first look is without the lock."""

import threading

from _shared import Box, run


class Lazy:
    def __init__(self):
        self.lock = threading.Lock()
        self.made = None

    def get(self):
        if self.made is None:  # at: look
            with self.lock:
                if self.made is None:
                    self.made = Box()  # at: make


lazy = Lazy()
run(lazy.get, lazy.get)
