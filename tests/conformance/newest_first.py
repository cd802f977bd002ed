"""A strategy written in Python, for the tests: it runs the newest thread at every choice."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.strategies.interface import Candidate


class NewestFirst:
    slice = 20

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def choose(self, step: int, candidates: Sequence[Candidate]) -> int:
        return max(range(len(candidates)), key=lambda position: candidates[position].thread)


class Broken:
    slice = 20

    def __init__(self, seed: int) -> None:
        pass

    def choose(self, step: int, candidates: Sequence[Candidate]) -> int:
        return len(candidates)
