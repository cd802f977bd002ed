"""The search for a replay that is as recorded: what it changes, and where it goes on from."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from reenact.engine import tries
from reenact.engine.ways import AFTER, BEFORE, Left, Spot, Way

SPOTS = [(thread, position) for position in range(10) for thread in range(2)]


@dataclass
class Replay:
    """A replay of a run that was left in a certain way at some spots: it agrees up to the first
    spot where it is left in another way."""

    way: Way
    right: dict[Spot, int]
    tells_where: bool = True
    score: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.way.left = [Left(step, spot, True) for step, spot in enumerate(SPOTS)]
        wrong = [
            step
            for step, spot in enumerate(SPOTS)
            if self.way.spots.get(spot, 0) != self.right.get(spot, 0)
        ]
        self.score = (min(wrong, default=len(SPOTS)), 0)

    @property
    def diverged_at(self) -> int | None:
        return self.score[0] if self.tells_where else None


def tries_until_found(right: dict[Spot, int], tells_where: bool = True) -> int:
    search = tries._Search()
    for number in range(1, 200):
        replay = Replay(search.next(), right, tells_where)
        if replay.score[0] == len(SPOTS):
            return number
        search.learn(replay)  # type: ignore[arg-type]
    pytest.fail("not found")


def test_the_first_try_is_what_the_hints_say() -> None:
    assert tries_until_found({}) == 1


@pytest.mark.parametrize("spot", SPOTS)
def test_what_is_wrong_at_the_disagreement_is_tried_first(spot: Spot) -> None:
    assert tries_until_found({spot: AFTER}) == 2


def test_what_comes_further_is_gone_on_from() -> None:
    """Three places that are wrong: none of them is enough, but each leads to the next."""
    right = {SPOTS[3]: AFTER, SPOTS[9]: 1, SPOTS[15]: BEFORE}
    assert tries_until_found(right) <= 60


def test_without_a_place_all_are_tried() -> None:
    assert tries_until_found({SPOTS[12]: AFTER}, tells_where=False) <= len(SPOTS) + 1


def test_no_way_is_tried_twice_as_long_as_there_are_others() -> None:
    search = tries._Search()
    seen: list[dict[Spot, int]] = []
    for _ in range(1 + 4 * len(SPOTS)):
        way = search.next()
        assert way.spots not in seen
        seen.append(way.spots)
        search.learn(Replay(way, {SPOTS[0]: 99}, tells_where=False))  # type: ignore[arg-type]


def test_where_times_are_known_all_tries_but_the_first_go_by_them() -> None:
    search = tries._Search()
    gone = []
    for _ in range(3):
        way = search.next()
        gone.append((way.goes_by_times, way.spots))
        way.knows_times = True
        search.learn(Replay(way, {SPOTS[4]: AFTER}))  # type: ignore[arg-type]
    assert gone == [(False, {}), (True, {}), (True, {SPOTS[4]: AFTER})]
