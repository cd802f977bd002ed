"""`reenact run --tools overflow,use-after-free` on the misbehaving extension, and on programs that
behave: what is found, and what is said of lines.

    python -m tests.canaries.finding [--runs 100]

Each run does one of the things in `scenarios.py`, in a thread. It counts if the report names the
kind of damage, the line and the function that wrote, and the line of the allocation. Of a correct
program nothing must be told. Prints what was otherwise; exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BOTH = "overflow,use-after-free"
PROGRAM = """\
import sys
import threading

import scenarios

thread = threading.Thread(target=scenarios.SCENARIOS[sys.argv[1]][0])
thread.start()
thread.join()
"""
CORRECT = [
    *(HERE / "correct").glob("*.py"),
    *(ROOT / "tests/programs").glob("[b-hl-w]*.py"),
    *(ROOT / "benchmarks/programs").glob("[f-ot]*.py"),
]


def build(where: Path) -> Path:
    """The directory of the extension."""
    include = sysconfig.get_paths()["include"]
    command = ["cc", "-O1", "-shared", "-fPIC", f"-I{include}", str(HERE / "misbehaving.c")]
    subprocess.run([*command, "-o", str(where / "misbehaving.so")], check=True)
    return where


def in_epochs(
    extension: Path, program: Path, *words: str, tools: str = BOTH
) -> subprocess.CompletedProcess[str]:
    options = ("--on-failure", "continue", "--tools", tools)
    paths = (*os.environ.get("PYTHONPATH", "").split(":"), str(extension), str(HERE))
    return subprocess.run(
        [sys.executable, "-m", "reenact", "run", *options, str(program), *words],
        env={**os.environ, "PYTHONPATH": ":".join(filter(None, paths))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def marked(function: Callable[[], None], mark: str) -> int | None:
    """The line that has a mark."""
    lines, first = inspect.getsourcelines(function)
    for number, line in enumerate(lines):
        if mark in line.partition("#")[2].replace(" and ", " ").split():
            return first + number
    return None


def wrong(done: subprocess.CompletedProcess[str], function: Any, expected: Any) -> str:
    """What is not said as it should be; nothing if all is."""
    told = done.stdout.splitlines()
    if done.returncode != 0:
        return f"it ended with {done.returncode}: {done.stderr}"
    if not any(
        line.startswith(f"FAILED: memory was damaged: {expected.kind}, byte ") for line in told
    ):
        return f"no {expected.kind} is told: {done.stdout} {done.stderr}"
    by = f"written by thread 1 in {expected.callee}" if expected.callee else "written by thread 1"
    wanted = [
        (by, lambda line: line.endswith(by)),
        *(
            (f"line of the {mark}", named(function, mark))
            for mark in ("write", "allocation", "free")
            if marked(function, mark) is not None
        ),
    ]
    missing = [what for what, is_it in wanted if not any(map(is_it, told))]
    return f"not told: {', '.join(missing)}: {done.stdout}" if missing else ""


def named(function: Callable[[], None], mark: str) -> Callable[[str], bool]:
    place = f"scenarios.py:{marked(function, mark)} in {function.__qualname__}"
    return lambda line: place in line


def damaged(extension: Path, place: Path, runs: int) -> list[str]:
    """Runs that damage memory of which something is said otherwise."""
    sys.path[:0] = [str(extension), str(HERE)]
    import scenarios

    program = place / "program.py"
    program.write_text(PROGRAM, "utf-8")
    names = list(scenarios.SCENARIOS)
    found = []
    for number in range(runs):
        name = names[number % len(names)]
        complaint = wrong(in_epochs(extension, program, name), *scenarios.SCENARIOS[name])
        if complaint:
            print(f"{name}: {complaint}", flush=True)
            found.append(name)
    return found


def quiet(extension: Path) -> list[str]:
    """Programs of which something is told, and nothing must be."""
    found = []
    for path in CORRECT:
        done = in_epochs(extension, path)
        if "memory was damaged" in done.stdout + done.stderr:
            print(f"{path.name}: {done.stdout[:2000]}", flush=True)
            found.append(path.name)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        extension = build(Path(name))
        missed = damaged(extension, Path(name), options.runs)
        count = options.runs - len(missed)
        print(f"{count} of {options.runs} runs: found, with the right lines", flush=True)
        about_correct = quiet(extension)
        print(f"{len(about_correct)} of {len(CORRECT)} correct programs: something is told")
    return 1 if missed or about_correct else 0


if __name__ == "__main__":
    sys.exit(main())
