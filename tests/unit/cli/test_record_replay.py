"""`reenact record` and `reenact replay` as a user meets them: exit codes, words, bad input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reenact import pyversion
from reenact.inputs import Inputs
from reenact.recordings.pack import pack, unpack


class Workplace:
    """A directory with a program in it, in which commands are run."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.path = place / "run.reenact"

    def write(self, source: str, name: str = "program.py") -> str:
        (self.place / name).write_text(source)
        return name

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "reenact", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.place,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def record(self, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("record", "-o", "run.reenact", self.write(source), *arguments)

    def edit_header(self, **changes: object) -> None:
        """Change the recording's header, as a stranger could."""
        directory = self.place / "open"
        unpack(self.path, directory)
        header = json.loads((directory / "header.json").read_text())
        (directory / "header.json").write_text(json.dumps({**header, **changes}))
        self.path.unlink()
        pack(directory, self.path)
        shutil.rmtree(directory)


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def test_the_programs_arguments_are_its_own(work: Workplace) -> None:
    done = work.record("import sys; print(sys.argv)", "-o", "x", "--seed", "--", "y")
    assert done.stdout == "['program.py', '-o', 'x', '--seed', '--', 'y']\n"


@pytest.mark.parametrize("code", [0, 3, 255])
def test_exit_codes_are_the_programs_own(work: Workplace, code: int) -> None:
    assert work.record(f"raise SystemExit({code})").returncode == code
    assert work.run("replay", "run.reenact").returncode == code


def test_an_uncaught_exception_looks_as_ever(work: Workplace) -> None:
    done = work.record("def f():\n    1 / 0\nf()\n")
    stock = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=work.place
    )
    assert done.returncode == stock.returncode == 1
    assert done.stderr.startswith(stock.stderr.replace(str(work.place) + os.sep, ""))


def test_where_the_recording_is_is_said_on_standard_error(work: Workplace) -> None:
    assert "in run.reenact" in work.record("").stderr
    default = work.run("record", work.write("", "other.py"))
    (made,) = work.place.glob("other-*.reenact")
    assert made.name in default.stderr


def test_a_module_runs_as_python_m_does(work: Workplace) -> None:
    (work.place / "pkg").mkdir()
    work.write("import sys; print(__name__, __package__, sys.argv[1:])", "pkg/__main__.py")
    work.write("", "pkg/__init__.py")
    done = work.run("record", "-o", "run.reenact", "-m", "pkg", "-v", "a")
    assert done.stdout == "__main__ pkg ['-v', 'a']\n"
    assert work.run("replay", "run.reenact").stdout == done.stdout


def test_a_deadlock_is_reported_and_replays(work: Workplace) -> None:
    recorded = work.record(
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()\n"
    )
    replayed = work.run("replay", "run.reenact")
    for done in (recorded, replayed):
        assert done.returncode == 122
        assert "deadlock at step" in done.stderr
        assert "thread 0 waits for lock 1, which it holds itself" in done.stderr
        assert "program.py:4 in <module>: lock.acquire()" in done.stderr


def test_changed_sources_are_said_and_the_divergence_names_both_lines(work: Workplace) -> None:
    source = "import threading\nlock = threading.Lock()\nwith lock: pass\n"
    work.record(source)
    work.write(source.replace("with lock", "\n\nwith lock"))
    replayed = work.run("replay", "run.reenact")
    assert replayed.returncode == 120
    assert "program.py has changed since it was recorded" in replayed.stderr
    assert "diverged at step" in replayed.stderr
    assert "recorded: acquire" in replayed.stderr and "program.py:3" in replayed.stderr
    assert "now:      acquire" in replayed.stderr and "program.py:5" in replayed.stderr


def test_other_output_is_a_soft_divergence(work: Workplace) -> None:
    (work.place / "data").write_text("one")
    program = work.write("print(open('data').read())")
    work.run("record", "--source", "files=passed", "-o", "run.reenact", program)
    (work.place / "data").write_text("two")
    replayed = work.run("replay", "run.reenact")
    assert replayed.returncode == 120
    assert "standard output differs from the recorded one at line 1" in replayed.stderr
    assert "'one'" in replayed.stderr and "'two'" in replayed.stderr


def test_a_file_that_changed_or_went_away_is_replayed_as_it_was(work: Workplace) -> None:
    (work.place / "data").write_text("one")
    work.record("print(open('data').read()); open('made', 'w').write('something')")
    (work.place / "data").unlink()
    (work.place / "made").unlink()
    replayed = work.run("replay", "run.reenact")
    assert (replayed.returncode, replayed.stdout) == (0, "one\n")
    assert not (work.place / "made").exists()


def test_usage_errors_exit_with_2(work: Workplace) -> None:
    work.write("")
    for arguments in (
        ["record"],
        ["record", "missing.py"],
        ["record", "--seed", "-1", "program.py"],
        ["record", "--slice", "0", "program.py"],
        ["record", "--instrument", "x", "--no-instrument", "program.py"],
        ["record", "-o", ".", "program.py"],
        ["nonsense"],
        [],
    ):
        assert work.run(*arguments).returncode == 2, arguments


def test_another_python_is_refused_with_what_to_do(work: Workplace) -> None:
    work.record("")
    work.edit_header(python="3.7.1")
    done = work.run("replay", "run.reenact")
    assert done.returncode == 121
    assert "Python 3.7.1" in done.stderr and pyversion.RUNNING in done.stderr
    assert "python3.7 -m reenact replay" in done.stderr


def test_a_missing_program_is_refused_with_what_to_do(work: Workplace) -> None:
    work.record("")
    (work.place / "program.py").unlink()
    done = work.run("replay", "run.reenact")
    assert done.returncode == 121
    assert "Put the sources where they were" in done.stderr


def test_a_missing_module_is_named_with_what_to_do(work: Workplace) -> None:
    packages = work.place / "site-packages"
    packages.mkdir()
    (packages / "oddlib.py").write_text("name = 'odd'\n")
    add = f"import sys; sys.path.insert(0, {str(packages)!r}); import oddlib; print(oddlib.name)"
    assert work.record(add).stdout == "odd\n"
    assert work.run("replay", "run.reenact").returncode == 0
    shutil.rmtree(packages)
    done = work.run("replay", "run.reenact")
    assert done.returncode == 121
    assert "needs the module oddlib" in done.stderr and "Install oddlib" in done.stderr


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv IS NOT INSTALLED")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
@pytest.mark.parametrize("what", ["the recording", "its directory"])
def test_what_may_not_be_read_or_entered_is_said(work: Workplace, what: str) -> None:
    """As a user without permission: root itself, without the right to pass over permissions."""
    inner = work.place / "inner"
    inner.mkdir()
    (inner / "program.py").write_text("print('ran')")
    command = [sys.executable, "-m", "reenact", "record", "-o", str(work.path), "program.py"]
    subprocess.run(command, cwd=inner, check=True, capture_output=True)
    target = work.path if what == "the recording" else inner
    target.chmod(0)
    os.chown(target, 12345, 12345)
    rights = "--bounding-set=-dac_override,-dac_read_search"
    command = ["setpriv", rights, sys.executable, "-m", "reenact", "replay", str(work.path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert done.returncode == 121
    assert "Permission denied" in done.stderr and "ran" not in done.stdout


def test_secrets_of_the_environment_are_not_kept(
    work: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hunter2!")
    work.record("")
    unpack(work.path, work.place / "open")
    header = json.loads((work.place / "open" / "header.json").read_text())
    assert header["environment"]["MY_API_TOKEN"] == "xxxxxxxx"


def test_points_of_synchronisation_alone(work: Workplace) -> None:
    source = "total = 0\nfor i in range(1000):\n    total += i\nprint(total)\n"
    work.record(source)
    with_ticks = json.loads(work.run("info", "--json", "run.reenact").stdout)["steps"]
    work.path.unlink()
    work.run("record", "--no-instrument", "-o", "run.reenact", "program.py")
    without = json.loads(work.run("info", "--json", "run.reenact").stdout)["steps"]
    assert with_ticks >= 1000 > without


def test_a_package_can_be_instrumented(work: Workplace) -> None:
    source = "import textwrap\nprint(len(textwrap.wrap('word ' * 500)))\n"
    work.record(source)
    plain = json.loads(work.run("info", "--json", "run.reenact").stdout)["steps"]
    work.path.unlink()
    work.run("record", "--instrument", "textwrap", "-o", "run.reenact", "program.py")
    ticked = json.loads(work.run("info", "--json", "run.reenact").stdout)["steps"]
    assert ticked > plain + 400
    assert work.run("replay", "run.reenact").returncode == 0


SEES_INPUTS = """\
from reenact.intercept import install
print(install._inputs.text(), id(object()))
"""


def test_the_choice_of_inputs_travels_to_the_program_and_its_replay(work: Workplace) -> None:
    work.write("[tool.reenact]\nboundary = ['a:b']\nsources.files = 'passed'\n", "pyproject.toml")
    options = ["--source", "random=passed", "--boundary", "c.d:*", "--no-strict"]
    program = work.write(SEES_INPUTS)
    done = work.run("record", *options, "-o", "run.reenact", program)
    assert done.stdout.startswith("random=passed files=passed a:b c.d:* 1"), done.stderr
    work.write("broken", "pyproject.toml")  # a replay does not look at it
    replayed = work.run("replay", "run.reenact")
    assert (replayed.stdout, replayed.returncode) == (done.stdout, 0)
    assert "random passed, files passed" in work.run("info", "run.reenact").stdout
    header = json.loads(work.run("info", "--json", "run.reenact").stdout)["header"]
    assert header["inputs"] == Inputs.parse(done.stdout.rpartition(" ")[0]).as_dict()


def test_a_recording_without_a_choice_of_inputs_replays_with_the_defaults(work: Workplace) -> None:
    done = work.record("print('as ever')")
    unpack(work.path, work.place / "open")
    header = json.loads((work.place / "open" / "header.json").read_text())
    del header["inputs"]
    (work.place / "open" / "header.json").write_text(json.dumps(header))
    assert work.run("replay", "open").stdout == done.stdout == "as ever\n"


def test_the_programs_process_loads_nothing_to_read_settings(work: Workplace) -> None:
    names = ("dataclasses", "tomllib", "json", "re", "typing", "reenact.config")
    source = f"import sys; print([name for name in {names} if name in sys.modules])"
    stock = subprocess.run(
        [sys.executable, work.write(source)], capture_output=True, text=True, cwd=work.place
    )
    work.write("[tool.reenact]\nstrict = false\n", "pyproject.toml")
    assert work.record(source).stdout == stock.stdout


def test_settings_of_the_file_are_in_force(work: Workplace) -> None:
    text = "[tool.reenact]\nstrategy = 'random'\nseed = 11\nslice = 3\nno-instrument = true\n"
    work.write(text, "pyproject.toml")
    work.record("")
    header = json.loads(work.run("info", "--json", "run.reenact").stdout)["header"]
    assert header["strategy"] == {"name": "random", "seed": 11, "slice": 3}
    assert header["instrument"]["enabled"] is False
    work.path.unlink()
    for options in (["--no-config"], ["--config", work.write("[tool.reenact]", "x.toml")]):
        work.run("record", *options, "-o", "run.reenact", "program.py")
        header = json.loads(work.run("info", "--json", "run.reenact").stdout)["header"]
        assert header["strategy"]["name"] == "queue"
        work.path.unlink()


@pytest.mark.parametrize(
    "options, words",
    [
        (["--source", "clock"], "--source: 'clock' is not NAME=TREATMENT"),
        (["--source", "clocks=passed"], "--source: there is no source 'clocks'"),
        (["--source", "signals=refused"], '--source: signals cannot be "refused"'),
        (["--boundary", "psycopg2"], "--boundary: boundary must be a list of module:name"),
        (["--config", "none.toml"], "none.toml: it cannot be read"),
        (["--config", "program.py", "--no-config"], "not allowed with argument"),
        (["--strategy", "fair"], "--strategy: unknown strategy 'fair'"),
        ([], "pyproject.toml line 2: unknown strategy 'fairest'"),
    ],
)
def test_wrong_settings_exit_with_2(work: Workplace, options: list[str], words: str) -> None:
    work.write("[tool.reenact]\nstrategy = 'fairest'\n", "pyproject.toml")
    done = work.run("record", *options, work.write("print('ran')"))
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
