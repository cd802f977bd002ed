"""Chance from the system, by a way that nobody watches, decides whether the program fails."""

import ctypes
import threading

library = ctypes.CDLL(None)
drawn = ctypes.create_string_buffer(1)
thread = threading.Thread(target=library.getrandom, args=(drawn, 1, 0))
thread.start()
thread.join()
assert drawn.raw[0] % 8
