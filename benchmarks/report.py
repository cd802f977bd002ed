"""Turns measurements into tables, verdicts and JSON. Called by record.py; runs nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import cases
from measure import Measurement


@dataclass(frozen=True)
class Verdict:
    """One figure against its target."""

    what: str
    value: float
    target: float
    unit: str

    @property
    def is_met(self) -> bool:
        """At most the target."""
        return self.value <= self.target

    def __str__(self) -> str:
        mark = "ok" if self.is_met else "MISSED"
        return f"{self.what:40} {self.show(self.value):>12} <= {self.show(self.target):<10} {mark}"

    def show(self, value: float) -> str:
        """With its unit."""
        if self.unit == "ratio":
            return f"{value:.3f}x"
        return f"{value * 1000:.0f} ms" if self.unit == "s" else f"{value:,.0f} B"


def geometric_mean(values: list[float]) -> float:
    """The mean of ratios."""
    return math.exp(sum(map(math.log, values)) / len(values))


def group(results: list[Measurement], name: str) -> list[Measurement]:
    """The results of one group."""
    return [result for result in results if result.case.group == name]


def judge(results: list[Measurement]) -> list[Verdict]:
    """All figures that have a target."""
    return [
        *judge_compute(group(results, "compute")),
        *judge_threads(group(results, "threads")),
        *judge_inputs(group(results, "inputs")),
        *judge_startup(group(results, "startup")),
        *judge_replay(results),
        *judge_sizes(group(results, "size")),
    ]


def judge_compute(results: list[Measurement]) -> Iterable[Verdict]:
    """Mean and worst of the compute programs."""
    ratios = [result.record_ratio for result in results]
    if ratios:
        mean = geometric_mean(ratios)
        yield Verdict("compute, geometric mean", mean, cases.COMPUTE_MEAN_RATIO, "ratio")
        yield Verdict("compute, worst", max(ratios), cases.COMPUTE_WORST_RATIO, "ratio")


def judge_threads(results: list[Measurement]) -> Iterable[Verdict]:
    """Each threaded program by itself."""
    for result in results:
        yield Verdict(result.case.name, result.record_ratio, cases.THREADS_RATIO, "ratio")


def judge_inputs(results: list[Measurement]) -> Iterable[Verdict]:
    """Each kind of call by itself."""
    for result in results:
        target = cases.INPUTS_RATIOS[result.case.args[0]]
        yield Verdict(result.case.name, result.record_ratio, target, "ratio")


def judge_startup(results: list[Measurement]) -> Iterable[Verdict]:
    """The extra time of an empty program."""
    for result in results:
        yield Verdict("start-up, more", result.startup_more_s, cases.STARTUP_MORE_S, "s")


def judge_replay(results: list[Measurement]) -> Iterable[Verdict]:
    """The slowest replay; programs that hardly run say nothing."""
    ratios = {
        result.case.name: result.replay_ratio
        for result in results
        if result.replay_ratio is not None and result.case.group in ("compute", "threads")
    }
    if ratios:
        worst = max(ratios, key=lambda name: ratios[name] or 0.0)
        value = ratios[worst] or 0.0
        yield Verdict(f"replay, worst ({worst})", value, cases.REPLAY_RATIO, "ratio")


def judge_sizes(results: list[Measurement]) -> Iterable[Verdict]:
    """Packed recordings of contended locks."""
    for result in results:
        if "packed_bytes" in result.info:
            size = result.info["packed_bytes"]
            yield Verdict(f"packed, {result.case.name}", size, cases.SIZE_BYTES, "bytes")


def times_table(results: list[Measurement]) -> list[str]:
    """One line a program: best seconds, ratios, and the noise of the stock runs."""
    heads = ("stock s", "record s", "ratio", "replay/record", "noise")
    widths = (9, 9, 8, 14, 7)
    cells = (f"{head:>{width}}" for head, width in zip(heads, widths, strict=True))
    lines = [f"{'program':24} {' '.join(cells)}"]
    for result in results:
        replay = "-" if result.replay_ratio is None else f"{result.replay_ratio:.3f}x"
        lines.append(
            f"{result.case.name:24} {result.stock.best:9.3f} {result.record.best:9.3f} "
            f"{result.record_ratio:7.3f}x {replay:>14} {result.stock.spread:6.2f}x"
        )
    return lines


def sizes_table(results: list[Measurement]) -> list[str]:
    """One line a recording: packed bytes, and how they relate to what was recorded."""
    known = [result for result in results if result.info]
    if not known:
        return ["(no recordings to look at)"]
    lines = [
        f"{'recording':20} {'steps':>13} {'operations':>11} {'packed B':>11} "
        f"{'B/1M steps':>11} {'B/100k ops':>11}"
    ]
    for result in known:
        steps, operations, packed = (
            result.info.get(key) for key in ("steps", "operations", "packed_bytes")
        )
        figures = (steps, operations, packed, per(packed, steps, 1e6), per(packed, operations, 1e5))
        widths = (13, 11, 11, 11, 11)
        cells = (show(figure, width) for figure, width in zip(figures, widths, strict=True))
        lines.append(f"{result.case.name:20} {' '.join(cells)}")
    return lines


def per(amount: float | None, count: float | None, unit: float) -> float | None:
    """Amount per `unit` counts, where both are known."""
    return None if amount is None or not count else amount / count * unit


def show(figure: float | None, width: int) -> str:
    """A number with thousands marked, or a dash."""
    return f"{'-':>{width}}" if figure is None else f"{figure:>{width},.0f}"


def as_json(results: list[Measurement], verdicts: list[Verdict]) -> dict[str, Any]:
    """Everything, the single runs too."""
    return {
        "programs": [
            {
                "name": result.case.name,
                "group": result.case.group,
                "record_ratio": result.record_ratio,
                "replay_ratio": result.replay_ratio,
                "startup_more_s": result.startup_more_s,
                "times_s": {kind: asdict(getattr(result, kind)) for kind in KINDS},
                "info": result.info,
            }
            for result in results
        ],
        "verdicts": [{**asdict(verdict), "is_met": verdict.is_met} for verdict in verdicts],
    }


KINDS = ("stock", "record", "replay")
