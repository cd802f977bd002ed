"""Turns what was measured into tables, verdicts and JSON, for races.py. Runs nothing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import races_cases as cases
from races_cases import Case
from races_measure import Compared, Row, Said, best
from races_run import Lines
from report import Verdict, geometric_mean

MARK = "# racy"
HOW = {0: "but no line", 1: "one of the lines", 2: "both lines"}


def blocks(rows: list[Row], said: list[Said], peers: list[str]) -> list[list[str]]:
    """All tables, the notes and the verdicts; none that would be empty."""
    all_blocks = [
        times_table(rows, peers) if rows else [],
        memory_table(rows, peers) if rows else [],
        notes(rows),
        seeded_table(said) if said else [],
        [with_peers(*each) for each in judge(rows, peers)],
    ]
    return [block for block in all_blocks if block]


def times_table(rows: list[Row], peers: list[str]) -> list[str]:
    """One line a program: best times, ratios, noise of the stock runs, and the peers' ratios."""
    heads = ("stock", "races", "ratio", "by cpu", "noise", *peers)
    lines = [f"{'time':20}" + "".join(f"{head:>12}" for head in heads)]
    for row in rows:
        cells = [
            *times(row),
            ratio_cell(row.reenact, "cpu_s"),
            "-" if row.reenact.trouble else f"{row.reenact.noise:.2f}x",
            *(peer_cell(row, name, "judged_s") for name in peers),
        ]
        lines.append(f"{row.case.name:20}" + "".join(f"{cell:>12}" for cell in cells))
    return lines


def times(row: Row) -> list[str]:
    """Stock, with races, and their ratio."""
    found = row.reenact
    if found.trouble is not None:
        return ["-", "-", "FAILED"]
    unit, per_s = ("s", 1.0) if isinstance(row.case, Case) else ("us", 1e6)
    seconds = (best(runs, "judged_s") for runs in (found.stock, found.runs))
    shown = [f"{each * per_s:,.3f} {unit}" for each in seconds]
    return [*shown, ratio_cell(found, "judged_s")]


def memory_table(rows: list[Row], peers: list[str]) -> list[str]:
    """One line a program: the most memory of the process, and the peers' ratios."""
    heads = ("stock", "races", "ratio", *peers)
    lines = [f"{'memory':20}" + "".join(f"{head:>12}" for head in heads)]
    for row in rows:
        found = row.reenact
        sizes = ["-", "-"]
        if found.trouble is None:
            sizes = [f"{best(runs, 'peak_kb') / 1024:.1f} MB" for runs in (found.stock, found.runs)]
        ratios = [peer_cell(row, name, "peak_kb") for name in peers]
        cells = [*sizes, ratio_cell(found, "peak_kb"), *ratios]
        lines.append(f"{row.case.name:20}" + "".join(f"{cell:>12}" for cell in cells))
    return lines


def ratio_cell(compared: Compared, figure: str) -> str:
    """A ratio, or a dash."""
    ratio = compared.ratio(figure)
    return "-" if ratio is None else f"{ratio:.2f}x"


def peer_cell(row: Row, name: str, figure: str) -> str:
    """A peer's ratio; that of times has a mark if what it reported is wrong."""
    compared = row.peers[name]
    if compared.trouble is not None:
        return "failed"
    ratio = compared.ratio(figure)
    is_marked = figure == "judged_s" and is_wrong(row, compared)
    return f"{ratio:.1f}x{' !' if is_marked else ''}"


def is_wrong(row: Row, compared: Compared) -> bool:
    """Every server has a race, no other measured program has one."""
    return any(run.found is isinstance(row.case, Case) for run in compared.runs)


def notes(rows: list[Row]) -> list[str]:
    """What went wrong, tool by tool."""
    lines = []
    for row in rows:
        for name, compared in {"reenact": row.reenact, **row.peers}.items():
            if compared.trouble is not None:
                lines.append(f"{name}, {row.case.name}: failed: {compared.trouble}")
            elif is_wrong(row, compared):
                what = (
                    "reports races that are not there"
                    if isinstance(row.case, Case)
                    else "MISSED the race"
                )
                lines.append(f"{name}, {row.case.name}: ! {what}")
            elif any(run.found is None for run in compared.runs):
                lines.append(f"{name}, {row.case.name}: inconclusive")
    return lines


def judge(rows: list[Row], peers: list[str]) -> list[tuple[Verdict, dict[str, list[float]]]]:
    """The figures that have a target, each with the peers' ratios of the same programs."""
    judged = []
    for group in dict.fromkeys(row.case.group for row in rows):
        chosen = [row for row in rows if row.case.group == group]
        ratios = ratios_of(chosen, "judged_s")
        if not ratios:
            continue
        if group == "compute":
            mean = geometric_mean(list(ratios.values()))
            verdict = Verdict("compute, geometric mean", mean, cases.COMPUTE_MEAN_RATIO, "ratio")
        else:
            verdict = worst(group, ratios, cases.WORST_RATIOS[group])
        judged.append((verdict, peer_ratios(chosen, peers, "judged_s")))
    sizes = ratios_of(rows, "peak_kb")
    if sizes:
        verdict = worst("memory", sizes, cases.MEMORY_RATIO)
        judged.append((verdict, peer_ratios(rows, peers, "peak_kb")))
    return judged


def ratios_of(rows: list[Row], figure: str) -> dict[str, float]:
    """Those that are there, by program."""
    all_ratios = {row.case.name: row.reenact.ratio(figure) for row in rows}
    return {name: ratio for name, ratio in all_ratios.items() if ratio is not None}


def worst(what: str, ratios: dict[str, float], target: float) -> Verdict:
    """The greatest of them."""
    name = max(ratios, key=lambda each: ratios[each])
    return Verdict(f"{what}, worst ({name})", ratios[name], target, "ratio")


def peer_ratios(rows: list[Row], peers: list[str], figure: str) -> dict[str, list[float]]:
    """Those of each peer that are there."""
    found = {}
    for name in peers:
        ratios = [row.peers[name].ratio(figure) for row in rows]
        found[name] = [ratio for ratio in ratios if ratio is not None]
    return found


def with_peers(verdict: Verdict, ratios: dict[str, list[float]]) -> str:
    """The verdict, and the same figure of the peers."""
    combine = geometric_mean if "mean" in verdict.what else max
    told = [f"{name} {combine(each):.1f}x" for name, each in ratios.items() if each]
    return f"{verdict!s:72} {', '.join(told)}".rstrip()


def seeded_table(said: list[Said]) -> list[str]:
    """Who reports what of programs whose answer is known."""
    tools = list(said[0].by_tool)
    lines = [f"{'seeded':20}" + "".join(f"{name:>26}" for name in tools)]
    for each in said:
        cells = [answer(each.program, each.by_tool[name]) for name in tools]
        lines.append(f"{each.program.stem:20}" + "".join(f"{cell:>26}" for cell in cells))
    totals = (total(said, name) for name in tools)
    return [*lines, f"{'':20}" + "".join(f"{cell:>26}" for cell in totals)]


def answer(program: Path, lines: Lines | str) -> str:
    """What was said of a program, in words."""
    if isinstance(lines, str):
        return "failed"
    if not is_racy(program):
        return "FALSE ALARM" if lines else "silent"
    if not lines:
        return "MISSED"
    told = [{line for line in pair if line is not None} for pair in lines]
    if not set().union(*told) <= racy_lines(program):
        return "found, WRONG LINES"
    return f"found, {HOW[max(sum(line is not None for line in pair) for pair in lines)]}"


def is_racy(program: Path) -> bool:
    """By its name."""
    return program.stem.startswith("racy")


def racy_lines(program: Path) -> set[int]:
    """Those that are marked in its source."""
    text = program.read_text("utf-8").splitlines()
    return {number for number, line in enumerate(text, 1) if line.endswith(MARK)}


def total(said: list[Said], name: str) -> str:
    """How many races were found, and how many false alarms given."""
    racy = [each for each in said if is_racy(each.program)]
    safe = [each for each in said if not is_racy(each.program)]
    found = sum(answer(each.program, each.by_tool[name]).startswith("found") for each in racy)
    false = sum(answer(each.program, each.by_tool[name]) == "FALSE ALARM" for each in safe)
    return f"{found} of {len(racy)}, {false} false"


def as_json(rows: list[Row], said: list[Said], peers: list[str]) -> dict[str, Any]:
    """Everything, the single runs too."""
    return {
        "rows": [
            {
                "name": row.case.name,
                "group": row.case.group,
                "tools": {
                    name: {
                        "time_ratio": compared.ratio("judged_s"),
                        "cpu_ratio": compared.ratio("cpu_s"),
                        "memory_ratio": compared.ratio("peak_kb"),
                        **asdict(compared),
                    }
                    for name, compared in {"reenact": row.reenact, **row.peers}.items()
                },
            }
            for row in rows
        ],
        "seeded": [
            {
                "program": each.program.stem,
                "is_racy": is_racy(each.program),
                "said": {
                    name: {"answer": answer(each.program, lines), "lines": lines}
                    for name, lines in each.by_tool.items()
                },
            }
            for each in said
        ],
        "verdicts": [
            {**asdict(verdict), "is_met": verdict.is_met, "peers": ratios}
            for verdict, ratios in judge(rows, peers)
        ],
    }
