"""A seeded random walk: at every operation, and after a random number of ticks, any thread may run.

The choices are made in `_core/gate.c` (`random_enabled`), uniformly among the threads that can
run. The number of ticks between choices is uniform from 1 to twice the slice.
"""

from reenact.strategies.interface import Builtin

RANDOM = Builtin("random", kind=1, slice=10, summary="any thread that can run, by a seed")
