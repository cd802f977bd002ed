"""Turns what parallel.py measured into tables, verdicts and JSON. Runs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from parallel_cases import (
    CLAIMS,
    CONTROL_SPEED_UP,
    LEAST_SPEED_UP,
    MIRRORED,
    SPEED_UP_KEPT,
    TARGETS,
    UNSHARED,
    Claim,
    Point,
    Target,
)
from parallel_measure import Row, Seen

Cell = Callable[[Row, Seen], float | None]
THREADS = 2


def stock_of(row: Row) -> Seen:
    """What the others are compared to."""
    return row.seen["stock"]


def record_ratio(row: Row, seen: Seen, threads: int = THREADS) -> float | None:
    """Recorded to stock, by the program's own time."""
    stock = stock_of(row)
    if threads not in seen.times or threads not in stock.times:
        return None
    return seen.times[threads].best / stock.times[threads].best


def speed_up(seen: Seen) -> float | None:
    """How much faster two threads are than one."""
    if not {1, 2} <= seen.times.keys():
        return None
    return seen.times[1].best / seen.times[2].best


def speed_up_kept(row: Row, seen: Seen) -> float | None:
    """The speed-up to that of stock Python."""
    own, stock = speed_up(seen), speed_up(stock_of(row))
    return own / stock if own is not None and stock is not None else None


def replay_ratio(row: Row, seen: Seen) -> float | None:
    """Replayed to stock, by whole processes: a replayed clock tells the recorded time."""
    stock = stock_of(row)
    if not seen.replay.whole or THREADS not in stock.times:
        return None
    return min(seen.replay.whole) / min(stock.times[THREADS].whole)


def unpacked(row: Row, seen: Seen) -> float | None:
    """Bytes of the trace as it was written."""
    return seen.sizes.unpacked if seen.sizes else None


def of_accesses(row: Row, seen: Seen) -> float | None:
    """Bytes of the trace that are there because of the threads' accesses; at least one."""
    return max(1, seen.sizes.unpacked - seen.idle.unpacked) if seen.sizes and seen.idle else None


def packed(row: Row, seen: Seen) -> float | None:
    """Bytes of the trace, packed."""
    return seen.sizes.packed if seen.sizes else None


def record_s(row: Row, seen: Seen) -> float | None:
    """Seconds of the program's own time."""
    return seen.times[THREADS].best if THREADS in seen.times else None


def replay_s(row: Row, seen: Seen) -> float | None:
    """Seconds of the whole process."""
    return min(seen.replay.whole) if seen.replay.whole else None


# Heading, figure, how it is shown, and whether a mean of it makes sense.
TABLES: tuple[tuple[str, Cell, str, bool], ...] = (
    ("record time to stock, two threads", record_ratio, "{:.3f}x", True),
    ("speed-up from one thread to two, to that of stock", speed_up_kept, "{:.2f}", True),
    ("trace, bytes unpacked", unpacked, "{:,.0f}", False),
    ("trace, bytes packed", packed, "{:,.0f}", False),
    ("replay time to stock, whole process, two threads", replay_ratio, "{:.3f}x", True),
)
MICRO_TABLES: tuple[tuple[str, Cell, str, bool], ...] = (
    ("seconds, stock and recorded", record_s, "{:.3f}", False),
    ("trace, bytes unpacked", unpacked, "{:,.0f}", False),
    ("trace, without what is there if nothing is accessed", of_accesses, "{:,.0f}", False),
    ("trace, bytes packed", packed, "{:,.0f}", False),
    ("seconds of a replay, whole process", replay_s, "{:.3f}", False),
)


def blocks(rows: list[Row]) -> Iterator[list[str]]:
    """All tables that have something to tell, each with what it mirrors in its heading."""
    for group in dict.fromkeys(group_of(row) for row in rows):
        members = [row for row in rows if group_of(row) == group]
        is_micro = isinstance(members[0].case, Point)
        if not is_micro:
            yield stock_table(group, members)
        for heading, cell, form, has_mean in MICRO_TABLES if is_micro else TABLES:
            lines = table(members, cell, form, has_mean, with_stock=cell is record_s)
            if lines:
                yield [f"{group}: {heading} (after {MIRRORED[group]})", *lines]


def group_of(row: Row) -> str:
    """The group of a program, the axis of a point."""
    return row.case.axis if isinstance(row.case, Point) else row.case.group


def label(row: Row) -> str:
    """How a row is called."""
    return row.case.value if isinstance(row.case, Point) else row.case.name


def stock_table(group: str, rows: list[Row]) -> list[str]:
    """The base of all ratios: seconds with one thread and two, and how noisy the machine was."""
    lines = [
        f"{group}: stock",
        f"{'':20} {'1 thread s':>11} {'2 threads s':>11} {'speed-up':>9} {'noise':>7}",
    ]
    for row in rows:
        stock = stock_of(row)
        gained = speed_up(stock)
        if gained is not None:
            lines.append(
                f"{label(row):20} {stock.times[1].best:11.3f} {stock.times[2].best:11.3f} "
                f"{gained:8.2f}x {stock.times[2].spread:6.2f}x"
            )
    return lines


def table(rows: list[Row], cell: Cell, form: str, has_mean: bool, with_stock: bool) -> list[str]:
    """A line for each row, a column for each recorder; none if there is no figure at all."""
    names = [name for name in rows[0].seen if with_stock or name != "stock"]
    figures = [[cell(row, row.seen[name]) for name in names] for row in rows]
    if not any(figure is not None for line in figures for figure in line):
        return []
    lines = [f"{'':20} " + " ".join(f"{name:>13}" for name in names)]
    for row, line in zip(rows, figures, strict=True):
        lines.append(f"{label(row):20} " + " ".join(f"{show(one, form):>13}" for one in line))
    if has_mean and len(rows) > 1:
        means = [mean([one for one in column if one]) for column in zip(*figures, strict=True)]
        lines.append(
            f"{'geometric mean':20} " + " ".join(f"{show(one, form):>13}" for one in means)
        )
    return lines


def show(figure: float | None, form: str) -> str:
    """A figure, or a dash."""
    return "-" if figure is None else form.format(figure)


def mean(values: list[float]) -> float | None:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


@dataclass(frozen=True)
class Verdict:
    """One figure against its target."""

    what: str
    value: float
    target: float
    is_least: bool = False
    is_sure: bool = True

    @property
    def is_met(self) -> bool:
        """At most the target, or at least."""
        return self.value >= self.target if self.is_least else self.value <= self.target

    def __str__(self) -> str:
        sign = ">=" if self.is_least else "<="
        mark = ("ok" if self.is_met else "MISSED") if self.is_sure else "UNSURE"
        return f"{self.what:64} {self.value:7.3f} {sign} {self.target:5.2f} {mark}"


def about_control(gained: list[float]) -> str:
    """What threads that share nothing gained before and after; little means a busy machine."""
    told = " and ".join(f"{one:.2f}x" for one in gained)
    busy = "" if min(gained) >= CONTROL_SPEED_UP else ": the machine is BUSY, believe no speed-up"
    return f"control: two threads that share nothing gain {told}{busy}"


def judge(rows: list[Row], control: float) -> list[Verdict]:
    """All figures that have a target; `control` is what threads gain that share nothing."""
    is_sure = control >= CONTROL_SPEED_UP
    return (
        [verdict for target in TARGETS for verdict in judge_cost(rows, target)]
        + [
            verdict
            for name in ("sync", "ditto", "light")
            for verdict in judge_speed_up(rows, name, is_sure)
        ]
        + [verdict for claim in CLAIMS for verdict in judge_claim(rows, claim)]
    )


def judge_claim(rows: list[Row], claim: Claim) -> Iterator[Verdict]:
    """The mean of all points, and at how many of them it holds."""
    cell = next(each for each in CELLS if each.__name__ == claim.figure)
    ratios = []
    for row in rows:
        is_point = isinstance(row.case, Point) and row.case.name != UNSHARED
        if is_point and {"ditto", claim.system} <= row.seen.keys():
            theirs, ours = cell(row, row.seen[claim.system]), cell(row, row.seen["ditto"])
            ratios += [theirs / ours] if theirs and ours else []
    middle = mean(ratios)
    if middle is not None:
        held = sum(ratio >= claim.times for ratio in ratios)
        what = f"{claim.figure} of {claim.system} to ditto, mean ({held} of {len(ratios)} points)"
        yield Verdict(what, middle, claim.times, is_least=True)


def judge_cost(rows: list[Row], target: Target) -> Iterator[Verdict]:
    """The mean of a group, and the worst where each program counts."""
    ratios = {
        label(row): ratio
        for row in rows
        if group_of(row) == target.group and target.recorder in row.seen
        if (ratio := record_ratio(row, row.seen[target.recorder])) is not None
    }
    middle = mean(list(ratios.values()))
    if middle is None:
        return
    yield Verdict(f"{target.recorder}, {target.group}, geometric mean", middle, target.ratio)
    if target.is_for_each:
        worst = max(ratios, key=lambda name: ratios[name])
        what = f"{target.recorder}, {target.group}, worst ({worst})"
        yield Verdict(what, ratios[worst], target.ratio)


def judge_speed_up(rows: list[Row], name: str, is_sure: bool) -> Iterator[Verdict]:
    """What is kept of stock's speed-up, over the programs in which there is one."""
    kept = {
        label(row): part
        for row in rows
        if name in row.seen and (speed_up(stock_of(row)) or 0.0) >= LEAST_SPEED_UP
        if (part := speed_up_kept(row, row.seen[name])) is not None
    }
    if kept:
        worst = min(kept, key=lambda program: kept[program])
        what = f"{name}, speed-up kept, worst of {len(kept)} ({worst})"
        yield Verdict(what, kept[worst], SPEED_UP_KEPT, is_least=True, is_sure=is_sure)


def wrong(rows: list[Row]) -> list[str]:
    """Results that were not what they had to be, and recorders that failed."""
    lines = []
    for row in rows:
        for name, seen in row.seen.items():
            if seen.differs:
                lines.append(f"{row.case.name}, {name}: {seen.differs} results DIFFER")
            if seen.trouble:
                lines.append(f"{row.case.name}, {name}: FAILED: {seen.trouble.splitlines()[-1]}")
    return lines


def as_json(rows: list[Row], verdicts: list[Verdict]) -> dict[str, Any]:
    """Everything, the single runs too."""
    return {
        "rows": [
            {
                "name": row.case.name,
                "group": group_of(row),
                "label": label(row),
                "is_micro": isinstance(row.case, Point),
                "recorders": {name: figures(row, seen) for name, seen in row.seen.items()},
            }
            for row in rows
        ],
        "verdicts": [{**asdict(verdict), "is_met": verdict.is_met} for verdict in verdicts],
    }


def figures(row: Row, seen: Seen) -> dict[str, Any]:
    """What there is of one recorder."""
    cells = {function.__name__: function(row, seen) for function in CELLS}
    return {**cells, "speed_up": speed_up(seen), "seen": asdict(seen)}


CELLS: tuple[Cell, ...] = (
    record_ratio,
    speed_up_kept,
    replay_ratio,
    unpacked,
    of_accesses,
    packed,
    record_s,
    replay_s,
)
