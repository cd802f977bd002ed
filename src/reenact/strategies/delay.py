"""Delay-bounded search: the threads run one after the other, but for a few delays.

M. Emmi, S. Qadeer, Z. Rakamaric: Delay-bounded scheduling, POPL 2011. Without delays there is one
execution: each thread runs until it cannot, then the next. A delay passes over the thread whose
turn it is. Delays are put at random choices; their number goes from 0 to the depth given and over
again. Many bugs need one or two.
"""

from __future__ import annotations

from reenact.strategies.searching import DELAY, Sampler

DEPTH = 5


class Delay(Sampler):
    name = "delay"
    kind = DELAY

    def __init__(self, seed: int, depth: int = DEPTH) -> None:
        super().__init__(seed)
        self.deepest = depth

    def depth(self) -> int:
        return self.runs % (self.deepest + 1)
