"""Probabilistic concurrency testing: random priorities, lowered at a few random moments.

S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte: A randomized scheduler with probabilistic
guarantees of finding bugs, ASPLOS 2010. A bug that needs d ordering constraints among n threads
is found in a run of k choices with a chance of at least 1/(n k^(d-1)). k is the longest run seen so
far; d goes from 1 to the depth given and over again, since nobody knows the depth of a bug.

A thread that polls (its sleep or time-out ends while others could run), or that has run for long,
is lowered too: otherwise a spin loop of high priority would never let the others end it.
"""

from __future__ import annotations

from reenact.strategies.searching import PCT, Sampler

DEPTH = 4


class Pct(Sampler):
    name = "pct"
    kind = PCT

    def __init__(self, seed: int, depth: int = DEPTH) -> None:
        super().__init__(seed)
        self.deepest = depth

    def depth(self) -> int:
        return 1 + self.runs % self.deepest
