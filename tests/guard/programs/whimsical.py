"""Does something else each time, if nobody keeps the random numbers."""

import os

import reenact

number = int.from_bytes(os.urandom(4), "little") % 30_000
for _ in range(number):
    pass
reenact.rollback("a whim")
