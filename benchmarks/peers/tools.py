"""The tools that are compared: where they are installed, how one is run.

PEERS explore schedules, each in several ways; DETECTORS look for races in one run.

Each peer gets a virtual environment of its own, made once, on the Python on which it was fastest
of those it supports. reenact runs on the Python that is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
START_LIMIT_S = 240


class ToolFailed(Exception):
    """A tool could not be installed, or its driver ended without an answer."""


@dataclass(frozen=True)
class Tool:
    """One tool. `package` is empty for reenact, which is there already; `more` are further words
    for pip."""

    name: str
    driver: str
    ways: tuple[str, ...]
    package: str = ""
    versions: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """What pip is asked for."""
        return " ".join((self.package, *self.more))


@dataclass(frozen=True)
class Answer:
    """What a driver printed; see driver.py."""

    schedules: int
    seconds: float
    failure: str | None
    note: str | None

    @property
    def rate(self) -> float:
        """Schedules per second."""
        return self.schedules / self.seconds


@dataclass
class Installed:
    """A tool with the interpreter that runs it."""

    tool: Tool
    python: str
    version: str = field(init=False)

    def __post_init__(self) -> None:
        code = "import platform; print(platform.python_version())"
        self.version = output_of([self.python, "-c", code], 60).strip()

    def run(
        self, workload: str, seconds: float, way: str, *, seed: int = 1, jobs: int = 1
    ) -> Answer:
        """One run of the driver, in a process of its own."""
        driver = str(HERE / self.tool.driver)
        command = [self.python, driver, workload, str(seconds), way]
        command += ["--seed", str(seed), "--jobs", str(jobs)]
        output = output_of(command, START_LIMIT_S + seconds, is_peer=bool(self.tool.package))
        try:
            return Answer(**json.loads(output.splitlines()[-1]))
        except (IndexError, ValueError, TypeError) as error:
            raise ToolFailed(f"no answer: {output[-500:]!r}") from error


REENACT = Tool("reenact", "reenact_driver.py", ("random",))
PEERS = (
    Tool("frontrun", "frontrun_driver.py", ("dpor", "random"), "frontrun==0.7.0", ("3.11",)),
    Tool(
        "interleave-test",
        "interleave_driver.py",
        ("random", "pct", "dfs", "random/line", "pct/line", "dfs/line"),
        "interleave-test==0.1.0",
        ("3.13", "3.12"),
    ),
)
# pyvft asks for 3.14, and works with 3.13; its README says that it runs on a build with the GIL.
DETECTORS = (
    Tool("threadcheck", "threadcheck_driver.py", (), "threadcheck==0.0.1.2", ("3.13",), ("flask",)),
    Tool(
        "pyvft",
        "pyvft_driver.py",
        (),
        "pyvft==0.2.0",
        ("3.13",),
        ("--ignore-requires-python", "flask"),
    ),
)


def install(tool: Tool, cache: Path) -> Installed:
    """The peer in its environment below `cache`, which is made if it is not there."""
    home = cache / tool.name
    python = str(home / "bin" / "python")
    mark = home / ".installed"
    if not mark.is_file() or mark.read_text() != tool.wanted:
        print(f"installing {tool.package} ...", file=sys.stderr, flush=True)
        output_of([find_python(tool), "-m", "venv", "--clear", str(home)], START_LIMIT_S)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        output_of([*pip, tool.package, *tool.more], START_LIMIT_S)
        mark.write_text(tool.wanted)
    return Installed(tool, python)


def find_python(tool: Tool) -> str:
    """The interpreter for a peer's environment."""
    for version in tool.versions:
        found = output_of([str(ROOT / "tools" / "find-python"), version], 60).strip()
        if found:
            return found
    raise ToolFailed(f"{tool.name} wants Python {' or '.join(tool.versions)}: not installed")


def output_of(command: list[str], limit_s: float, is_peer: bool = False) -> str:
    """What a command printed; a peer does not see the paths of the Python that is measured."""
    hidden = {"PYTHONPATH", "PYTHONHOME"} if is_peer else set()
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=limit_s
        )
    except subprocess.TimeoutExpired as late:
        raise ToolFailed(f"not done after {limit_s:.0f} s") from late
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise ToolFailed(f"exit code {done.returncode}: {last}")
    return done.stdout
