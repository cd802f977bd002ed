"""Runs the suite of a released package plainly and under `--reenact`, and compares test by test.

`python -m tests.suites.compare NAME` fetches the source distribution with its tests into
build/suites/NAME, unmodified, and makes an environment there. Needs an index of packages. Not part
of the test run: what was seen stands in docs/design.md.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tarfile
import venv
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUITES = (ROOT / "build" / "suites").resolve()


@dataclass(frozen=True, slots=True)
class Suite:
    """A package at one version, what its tests need, and where they are."""

    version: str
    needs: tuple[str, ...] = ()
    tests: str = "tests"
    options: tuple[str, ...] = ()


TABLE = {
    "apscheduler": Suite("3.11.3", ("pytest-asyncio", "pytest-tornado", "pytz", "tzlocal")),
    "blinker": Suite(
        "1.9.0",
        ("pytest-asyncio",),
        options=("-o", "asyncio_default_fixture_loop_scope=function"),
    ),
    "cachetools": Suite("8.0.0"),
    "diskcache": Suite("5.6.3", ("django", "pytest-django")),
    "dogpile.cache": Suite(
        "1.5.0",
        ("mako", "stevedore", "decorator", "typing_extensions"),
        options=("-p", "no:warnings", "-p", "no:logging"),
    ),
    "fasteners": Suite("0.20", ("diskcache", "more-itertools")),
    "janus": Suite(
        "2.0.0", ("pytest-asyncio", "pytest-benchmark"), options=("--benchmark-disable",)
    ),
    "prometheus_client": Suite("0.26.0", ("aiohttp", "asgiref", "django", "twisted")),
    "pykka": Suite("4.5.0", ("pytest-mock", "typing_extensions")),
    "pyrate_limiter": Suite(
        "4.5.1", ("pytest-asyncio", "filelock", "aiohttp", "httpx", "requests")
    ),
    "readerwriterlock": Suite("1.0.10", ("typing_extensions",)),
    "tenacity": Suite("9.2.1", ("pytest-asyncio", "tornado", "typeguard")),
    "transitions": Suite("0.9.3", ("mock", "dill", "six", "pycodestyle", "mypy")),
    "watchdog": Suite("7.1.0", ("pytest-timeout", "eventlet", "flaky", "PyYAML")),
    "zict": Suite("3.0.0", ("pytest-asyncio",), tests="zict", options=("-m", "not stress")),
}


def install(name: str, suite: Suite) -> tuple[Path, Path]:
    """The package's folder, and the interpreter that runs its tests."""
    home = SUITES / name
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(home / "venv", with_pip=True)
        _run(python, "-m", "pip", "install", "-q", "pytest", "pytest-timeout", *suite.needs)
    download = ("-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", home)
    if not list(home.glob("*.tar.gz")):
        _run(python, *download, f"{name}=={suite.version}")
    [archive] = home.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(home, filter="data")
    return home / archive.name.removesuffix(".tar.gz"), python


def _run(python: Path, *arguments: str | Path) -> None:
    subprocess.run([python, *arguments], check=True)


def outcomes(
    folder: Path, python: Path, suite: Suite, limit_s: int, more: tuple[str, ...]
) -> tuple[dict[str, str], str]:
    """The outcome of each test, and what pytest said last."""
    report = folder.parent / "report.xml"
    report.unlink(missing_ok=True)
    paths = [str(ROOT / "src"), str(folder / "src"), str(folder)]
    command = ["-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="]
    where = [f"--rootdir={folder}", f"--junitxml={report}"]
    with subprocess.Popen(
        [python, *command, *where, *suite.options, *more, suite.tests],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and what it has started
            out, _ = process.communicate()
            return {}, f"no end within {limit_s} s\n{out[-2000:]}"
    if not report.exists():
        return {}, out
    cases = ElementTree.parse(report).iter("testcase")
    said = out.rpartition(" reenact ===")[2] if "--reenact" in more else ""
    return {f"{case.get('classname')}::{case.get('name')}": _word(case) for case in cases}, said


def _word(case: ElementTree.Element) -> str:
    for child in case:
        if child.tag in ("failure", "error"):
            return "failed"
        if child.tag == "skipped":
            said = child.get("message", "")
            return "inconclusive" if said.startswith("Inconclusive") else "skipped"
    return "passed"


def differences(plain: dict[str, str], explored: dict[str, str]) -> list[str]:
    return [
        f"{test}: {plain.get(test, 'not run')} -> {explored.get(test, 'not run')}"
        for test in sorted(plain | explored)
        if plain.get(test) != explored.get(test)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted(TABLE))
    parser.add_argument("--runs", type=int, default=20, help="schedules per test (20)")
    parser.add_argument("--patience", default="1", help="as of --reenact-patience (1)")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a suite (900)")
    given = parser.parse_args()
    suite = TABLE[given.name]
    folder, python = install(given.name, suite)
    is_installed = any((ROOT / "src").glob("*.egg-info"))  # then pytest finds the plugin itself
    reenact = () if is_installed else ("-p", "reenact_pytest")
    reenact += ("--reenact", "--reenact-runs", str(given.runs))
    reenact += ("--reenact-patience", given.patience)
    plain, trouble = outcomes(folder, python, suite, given.limit, ())
    explored, said = outcomes(folder, python, suite, given.limit, reenact)
    different = differences(plain, explored)
    count = f"{len(plain)} tests, {len(different)} differences"
    print(f"{given.name} {suite.version}, patience {given.patience}: {count}")
    print("\n".join([*different, trouble, said]))
    return 1 if different or not plain else 0


if __name__ == "__main__":
    sys.exit(main())
