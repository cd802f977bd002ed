"""Runs one command for races.py, and reads the figures that it prints: a program, a server under
load, or a program whose races are wanted. Nothing is left behind, whatever happens."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.tools import HERE as PEERS_HERE
from peers.tools import Installed
from races_cases import CONNECTIONS

HERE = Path(__file__).resolve().parent
LIMIT_S = 300
PEER_LIMIT_S = 60
FOUND = {0: False, 1: True, 3: None}  # by exit code

Lines = list[list[int | None]]


class RunFailed(Exception):
    """A command ended with an error, too late, or without its figures."""


@dataclass(frozen=True)
class Way:
    """How a program is run: the words before it. A peer sees no paths of the measured Python."""

    name: str
    command: tuple[str, ...]
    is_peer: bool = False

    @property
    def limit_s(self) -> float:
        """How long it may take."""
        return PEER_LIMIT_S if self.is_peer else LIMIT_S


def stock(python: str, is_peer: bool = False) -> Way:
    """Python as it is."""
    return Way("stock", (python,), is_peer)


def reenact(python: str, *options: str) -> Way:
    """With race detection."""
    return Way("reenact", (python, "-m", "reenact", "races", *options))


def peer(installed: Installed, *options: str) -> Way:
    """By the peer's driver; see peers/detecting.py."""
    driver = str(PEERS_HERE / installed.tool.driver)
    return Way(installed.tool.name, (installed.python, driver, *options), True)


@dataclass(frozen=True)
class Run:
    """One run. `judged_s` is what counts: for a program the time of its work, for a server the
    processor time of a request. `found`: whether a race was reported; None is inconclusive."""

    judged_s: float
    cpu_s: float
    peak_kb: float
    found: bool | None


class Process:
    """A command in a process group of its own. Why there is padding is told in measure.py."""

    def __init__(self, way: Way, words: list[str], number: int = 0) -> None:
        environment = dict(os.environ, PYTHONHASHSEED="0")
        environment["REENACT_BENCHMARK_PADDING"] = "x" * (number * 272 % 4096)
        if way.is_peer:
            environment.pop("PYTHONPATH", None)
            environment.pop("PYTHONHOME", None)
        self.way = way
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115, closed by `end`
        self.popen = subprocess.Popen(
            [*way.command, *words],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *error: object) -> None:
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.communicate()
        self.errors.close()

    def first_line(self) -> str:
        """Its first line of output, empty if there is none."""
        assert self.popen.stdout is not None
        ready = select.select([self.popen.stdout], [], [], self.way.limit_s)[0]
        return self.popen.stdout.readline() if ready else ""

    def rest(self) -> tuple[str, bool | None]:
        """What it prints until its end, and whether a race was reported."""
        try:
            output = self.popen.communicate(timeout=self.way.limit_s)[0]
        except subprocess.TimeoutExpired as late:
            raise RunFailed(f"not done after {self.way.limit_s:.0f} s") from late
        code = self.popen.returncode
        if code not in FOUND or (code != 0 and self.way.name == "stock"):
            raise RunFailed(f"exit code {code}: {self.complaint()}")
        return output, FOUND[code]

    def complaint(self) -> str:
        """The last line of stderr, or better the last one that is an error's."""
        self.errors.seek(0)
        text = self.errors.read().decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        told = [line for line in lines if line.split()[0].endswith("Error:")]
        return (told or lines or ["no output"])[-1]


def run_program(way: Way, words: list[str], number: int) -> Run:
    """One run to its end."""
    with Process(way, words, number) as process:
        output, found = process.rest()
    return Run(figure(output, "elapsed"), figure(output, "cpu"), figure(output, "peak"), found)


def run_server(way: Way, words: list[str], requests: int, number: int) -> Run:
    """One run under load from another process."""
    with Process(way, words, number) as process:
        start = process.first_line().split()
        if start[:1] != ["port"]:
            process.rest()
            raise RunFailed("it told no port")
        put_load(start[1], requests)
        output, found = process.rest()
    cpu_s = figure(output, "serving") / requests
    return Run(cpu_s, cpu_s, figure(output, "peak"), found)


def put_load(port: str, requests: int) -> None:
    """Ask for pages, and then for the end."""
    load = [sys.executable, str(HERE / "load.py"), port, str(CONNECTIONS), str(requests)]
    try:
        subprocess.run(load, capture_output=True, timeout=PEER_LIMIT_S, check=True)
    except subprocess.SubprocessError as error:
        raise RunFailed("it does not answer") from error


def figure(output: str, name: str) -> float:
    """The number after the name in the last line that begins with it."""
    for line in reversed(output.splitlines()):
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    raise RunFailed(f"printed no line with {name}")


def lines_by_reenact(program: Path, python: str) -> Lines:
    """The two lines of each race that is reported."""
    with Process(reenact(python, "--json"), [str(program)]) as process:
        output, found = process.rest()
        if found is None:
            raise RunFailed(f"inconclusive: {process.complaint()}")
    findings: list[dict[str, Any]] = json.loads(output)["findings"]
    races = [finding for finding in findings if finding["kind"] == "race"]
    return [[race[which]["line"] for which in ("first", "second")] for race in races]


def lines_by_peer(program: Path, tool: Installed) -> Lines:
    """The same; None for a line that the peer does not tell."""
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as scratch:
        lines = Path(scratch, "lines.json")
        with Process(peer(tool, "--lines", str(lines)), [str(program)]) as process:
            process.rest()
        return [list(pair) for pair in json.loads(lines.read_text())]
