"""Partial order sampling: every pending operation has a random priority of its own.

X. Yuan, J. Yang, R. Gu: Partial order aware concurrency sampling, CAV 2018. The operation of
highest priority goes first; those that depend on it then draw anew. Orders that differ only in
independent operations are drawn together, so the rare ones among the rest are met more often than
by a random walk. The choices are made in `_core/search.c`.
"""

from reenact.strategies.searching import POS, Sampler


class Pos(Sampler):
    name = "pos"
    kind = POS
