"""Recording a program from outside: the directory, the run, the end, the packed file.

Called by `reenact record` and by the API. If a recording cannot be made the program runs all
the same, without one, and the reason is said.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reenact import _core, pyversion
from reenact.engine import launch
from reenact.engine.launch import Choices, Ended, Launch, Program
from reenact.errors import ReenactError
from reenact.recordings import format
from reenact.recordings.header import End, Header, Instrument, Strategy
from reenact.version import VERSION

if TYPE_CHECKING:
    from reenact.recordings.pack import Progress

_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording run left: `path` is None if nothing could be kept, for `problem`."""

    ended: Ended
    path: Path | None
    problem: str = ""


def default_path(program: Program) -> Path:
    stem = Path(program.target).stem if program.mode == "script" else program.target
    moment = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path.cwd() / f"{stem}-{moment}-{os.getpid()}.reenact"


def directory_of(path: Path) -> Path:
    return path.with_name(path.name + ".d")


def record(
    program: Program, choices: Choices, path: Path, progress: Progress | None = None
) -> Recorded:
    """Run the program, and leave the packed recording at `path`."""
    path = Path(os.path.abspath(path))
    directory = directory_of(path)
    try:
        directory.mkdir(mode=0o700, parents=True)
        (directory / format.HEADER).write_text(header(program, choices).to_json(), "utf-8")
    except OSError as error:
        return _without_recording(program, directory, error)
    started = time.monotonic()
    ended = launch.run(to_record(program, choices, directory), meanwhile=_get_ready)
    return keep(directory, path, ended, time.monotonic() - started, progress)


def to_record(program: Program, choices: Choices, directory: Path) -> Launch:
    """The process that is recorded, as this one would run the program."""
    place = str(directory)
    environment = dict(os.environ)
    return Launch(launch.RECORD, program, choices, environment, interpreter_flags(), place, place)


def _get_ready() -> None:
    """What is needed when the program has ended is loaded while it runs."""
    import reenact.engine.report
    import reenact.recordings.pack
    import reenact.recordings.reader  # noqa: F401


def _without_recording(program: Program, directory: Path, error: OSError) -> Recorded:
    shutil.rmtree(directory, ignore_errors=True)
    script = ["-m", program.target] if program.mode == "module" else [program.target]
    command = [sys.executable, *interpreter_flags(), *script, *program.argv]
    print(
        f"reenact: cannot record into {directory}: {error.strerror}. "
        "The program runs without being recorded; choose another place with -o.",
        file=sys.stderr,
        flush=True,
    )
    return Recorded(launch.run_plainly(command), None, f"{directory}: {error.strerror}")


def keep(
    directory: Path, path: Path, ended: Ended, seconds: float, progress: Progress | None = None
) -> Recorded:
    from reenact.recordings.pack import pack

    try:
        note_end(directory, ended, seconds)
        pack(directory, path, progress)
        shutil.rmtree(directory)
    except (OSError, ReenactError) as error:
        return _keep_directory(directory, ended, error)
    return Recorded(ended, path, _problem_of(path))


def _keep_directory(directory: Path, ended: Ended, error: OSError | ReenactError) -> Recorded:
    problem = f"the recording could not be packed: {error}"
    if not (directory / format.HEADER).exists():
        return Recorded(ended, None, problem)
    stopped = _problem_of(directory)
    return Recorded(ended, directory, f"{stopped}; {problem}" if stopped else problem)


def note_end(directory: Path, ended: Ended, seconds: float) -> None:
    """The whole of it or nothing: half an end would spoil the recording."""
    path = directory / format.END
    try:
        path.write_text(_end(directory, ended, seconds).to_json(), "utf-8")
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _end(directory: Path, ended: Ended, seconds: float) -> End:
    from reenact.recordings.reader import Recording

    how = "exited" if ended.signal is None else "killed"
    state = Recording.open(directory).state
    if state is not None and state.ended == "deadlock":
        how = "deadlock"
    return End(ended=how, exit_code=ended.exit_code, signal=ended.signal, seconds=seconds)


def _problem_of(path: Path) -> str:
    from reenact.recordings.reader import Recording

    try:
        state = Recording.open(path).state
    except ReenactError as error:
        return str(error)
    if state is None:
        return "nothing was recorded: the program did not come to its first step"
    if state.log_errno == 0:
        return ""
    return f"recording stopped early: {os.strerror(state.log_errno)}; the program went on without"


def header(program: Program, choices: Choices, is_launched: bool = True) -> Header:
    """What is known before the run; `is_launched`: its process is started for the purpose."""
    environment = launch.settle(dict(os.environ))[0] if is_launched else dict(os.environ)
    return Header(
        reenact=VERSION,
        python=platform.python_version() + pyversion.BUILD,
        cache_tag=sys.implementation.cache_tag or "",
        platform=sys.platform,
        machine=platform.machine(),
        libc=" ".join(platform.libc_ver()),
        executable=sys.executable,
        flags=interpreter_flags(),
        mode=program.mode,
        target=program.target,
        argv=program.argv,
        cwd=os.getcwd(),
        environment=without_secrets(dict(os.environ)),
        hash_seed=environment.get("PYTHONHASHSEED", "random"),
        addresses="fixed" if is_launched or _core.addresses_are_fixed() else "random",
        strategy=Strategy(choices.name, choices.seed, choices.slice),
        instrument=Instrument(program.packages is not None, program.packages or ()),
        inputs=program.inputs,
        engine=choices.engine,
        order=choices.order,
        started=datetime.now().astimezone().isoformat(timespec="seconds"),
    )


def without_secrets(environment: dict[str, str]) -> dict[str, str]:
    """Recordings are shown to others. Lengths stay, so that a replay's memory looks the same."""
    return {
        name: "x" * len(value) if any(secret in name.upper() for secret in _SECRETS) else value
        for name, value in environment.items()
    }


def interpreter_flags() -> tuple[str, ...]:
    """The options this interpreter was started with, for the one that runs the program."""
    flags = [f"-W{option}" for option in sys.warnoptions]
    for name, value in sys._xoptions.items():
        flags.append(f"-X{name}" if value is True else f"-X{name}={value}")
    if sys.flags.optimize:
        flags.append("-" + "O" * sys.flags.optimize)
    flags.extend(option for option, is_set in _plain_flags() if is_set)
    return tuple(flags)


def _plain_flags() -> Iterator[tuple[str, int]]:
    flags = sys.flags
    yield "-B", flags.dont_write_bytecode
    yield "-I", flags.isolated
    yield "-E", flags.ignore_environment and not flags.isolated
    yield "-s", flags.no_user_site and not flags.isolated
    yield "-S", flags.no_site
    yield "-u", isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.write_through
