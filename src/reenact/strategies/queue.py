"""First come, first served: each thread runs for a time slice, then goes to the end of the queue.

The choices are made in `_core/gate.c` (`first_enabled`). The slice is counted in points, so a
run of the same program with the same inputs makes the same choices. This is tsan11rec's queue
strategy with a slice, which spin loops need to end.
"""

from reenact.strategies.interface import Builtin

QUEUE = Builtin("queue", kind=0, slice=5000, summary="first come, first served, in time slices")
