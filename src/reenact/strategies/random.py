"""A seeded random walk: whenever several threads can run, any of them may, with equal chance.

Recording, choices are made in `_core/gate.c` (`random_enabled`), at every operation and after a
random number of ticks, uniform from 1 to twice the slice. Exploring, they are made in
`_core/search.c`. It is tsan11rec's random strategy, and the baseline of all others.
"""

from reenact.strategies.interface import Builtin
from reenact.strategies.searching import RANDOM as KIND
from reenact.strategies.searching import Sampler

RANDOM = Builtin("random", kind=1, slice=10, summary="any thread that can run, by a seed")


class RandomWalk(Sampler):
    name = "random"
    kind = KIND
