"""Draw what parallel.py has measured, one picture for each axis and each group.

    python benchmarks/parallel.py --json figures.json
    python benchmarks/parallel_plots.py figures.json [--into docs/benchmarks]

Lines over each axis of the microbenchmark: time, trace and replay, with logarithmic scales as in
the thesis on Ditto. Bars for the programs of each group: time and trace, as in Light's figures.
Needs matplotlib: `pip install 'reenact[benchmarks]'`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from parallel_cases import HERE, MIRRORED

# The same in every picture, whichever recorders were measured. Stock is black.
COLOURS = {
    "stock": "#000000",
    "sync": "#4477aa",
    "ditto": "#228833",
    "light": "#66ccee",
    "serial": "#aaaaaa",
    "dejavu": "#ee6677",
    "jarec": "#ccbb44",
    "leap": "#aa3377",
    "stride": "#cc7744",
}
OTHER = "#888888"
MARKS = dict(zip(COLOURS, "osD^vPX*p", strict=True))

LINES = (
    ("record_s", "seconds, stock and recorded"),
    ("of_accesses", "bytes that accesses add to the trace"),
    ("replay_s", "seconds of a replay, whole process"),
)
BARS = (
    ("record_ratio", "time to stock"),
    ("speed_up_kept", "speed-up kept"),
    ("unpacked", "bytes of the trace"),
)
Rows = list[dict[str, Any]]


def main() -> int:
    """Draw everything that the file has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("figures", type=Path, help="what parallel.py --json wrote")
    parser.add_argument("--into", type=Path, default=HERE.parent / "docs" / "benchmarks")
    parser.add_argument("--format", default="svg", choices=("svg", "png"))
    options = parser.parse_args()
    told = json.loads(options.figures.read_text())
    options.into.mkdir(parents=True, exist_ok=True)
    # so that the same figures make the same file
    matplotlib.rcParams.update({"svg.hashsalt": "reenact", "font.size": 9})
    for group in dict.fromkeys(row["group"] for row in told["rows"]):
        rows = [row for row in told["rows"] if row["group"] == group]
        path = options.into / f"parallel-{group}.{options.format}"
        draw(group, rows, told["title"], path)
        print(path)
    return 0


def draw(group: str, rows: Rows, title: str, path: Path) -> None:
    """One picture: a panel for each kind of figure."""
    is_micro = rows[0]["is_micro"]
    panels = [panel for panel in (LINES if is_micro else BARS) if has(rows, panel[0])]
    size = (4.2 * len(panels), 3.6) if is_micro else (9.0, 2.3 * len(panels) + 1.0)
    shape = (1, len(panels)) if is_micro else (len(panels), 1)
    figure, grid = plt.subplots(
        *shape, figsize=size, squeeze=False, sharex=not is_micro, layout="constrained"
    )
    for (key, heading), axes in zip(panels, grid.flat, strict=True):
        (lines if is_micro else bars)(axes, rows, key)
        axes.set_title(heading, fontsize=9)
        axes.grid(axis="y", linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.suptitle(f"{group} (after {MIRRORED[group]})\n{title}", fontsize=9)
    handles: dict[str, Any] = {}
    for axes in grid.flat:
        handles.update(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=9, frameon=False
    )
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def names_of(rows: Rows, key: str) -> list[str]:
    """Who has such a figure; stock only where it is not the measure itself."""
    return [
        name
        for name in rows[0]["recorders"]
        if (name != "stock" or key == "record_s")
        and any(row["recorders"][name][key] is not None for row in rows)
    ]


def has(rows: Rows, key: str) -> bool:
    """Whether anybody has."""
    return bool(names_of(rows, key))


def lines(axes: Axes, rows: Rows, key: str) -> None:
    """How a figure goes along an axis; its values are at equal distances."""
    for name in names_of(rows, key):
        axes.plot(
            [row["label"] for row in rows],
            [row["recorders"][name][key] for row in rows],
            label=name,
            color=COLOURS.get(name, OTHER),
            marker=MARKS.get(name, "."),
            markersize=4,
            linewidth=1.2,
        )
    axes.set_yscale("log")
    axes.set_xlabel(rows[0]["group"])


def bars(axes: Axes, rows: Rows, key: str) -> None:
    """A group of bars for each program."""
    names = names_of(rows, key)
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        values = [row["recorders"][name][key] or float("nan") for row in rows]
        offsets = [number - 0.4 + width * (place + 0.5) for number in range(len(rows))]
        axes.bar(offsets, values, width, label=name, color=COLOURS.get(name, OTHER))
    axes.set_xticks(range(len(rows)), [row["label"] for row in rows], rotation=30, ha="right")
    axes.tick_params(axis="x", length=0)
    if key == "unpacked":
        axes.set_yscale("log")
    else:
        axes.axhline(1.0, color="black", linewidth=0.8)


if __name__ == "__main__":
    sys.exit(main())
