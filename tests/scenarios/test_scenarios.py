"""Real programs on unmodified libraries: recorded while in use, replayed without their world.

One test is one scenario: what it needs, how it is driven, what it must have said. `harness.py`
does the rest.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ..versions import IS_DEFAULT
from .harness import Stage, Terminal, checked, compile_date_library, need_network_namespaces
from .servers import free_port, make_certificate, postgres_server, redis_server, wait_for_port

REQUESTS = 2000 if IS_DEFAULT else 300


@pytest.fixture(scope="session")
def date_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_date_library(tmp_path_factory.mktemp("date"))


@pytest.fixture
def stage(tmp_path: Path, date_library: Path) -> Iterator[Stage]:
    need_network_namespaces()
    stage = Stage(tmp_path, date_library)
    yield stage
    stage.close()


@pytest.fixture
def site(stage: Stage) -> str:
    """A web site of 60 pages."""
    port = free_port()
    wait_for_port(port, stage.outside("site.py", port, 60))
    return f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("program", ["http_server.py", "flask_app.py"])
def test_server_under_load(stage: Stage, program: str) -> None:
    port = free_port()
    running = stage.record(program, port)
    stage.drive("load.py", port, 32, REQUESTS, "--quit")
    changes = sum(number % 3 > 0 for number in range(REQUESTS))
    notes = f"{REQUESTS + 2 * changes} notes"  # the application makes three of each change
    stage.check_replays(
        checked(running, notes if "flask" in program else f"{REQUESTS + 1} requests")
    )


def test_waitress(stage: Stage) -> None:
    port = free_port()
    running = stage.record("waitress_app.py", port)
    stage.drive("load.py", port, 16, 400)
    running.process.send_signal(signal.SIGTERM)
    stage.check_replays(checked(running, "400 requests"))


def test_aiohttp(stage: Stage) -> None:
    port = free_port()
    running = stage.record("aiohttp_app.py", port)
    stage.drive("load.py", port, 16, 400, "--quit")
    stage.check_replays(checked(running, "400 requests"))


def test_requests_crawler(stage: Stage, site: str) -> None:
    running = stage.record("requests_crawler.py", site)
    stage.check_replays(checked(running, "61 pages"))


@pytest.mark.parametrize("mode", ["threads", "tasks"])
def test_httpx_crawler(stage: Stage, site: str, mode: str) -> None:
    running = stage.record("httpx_crawler.py", mode, site)
    stage.check_replays(checked(running, "61 pages"))


def test_redis(stage: Stage) -> None:
    port = stage.around.enter_context(redis_server(stage.work))
    running = stage.record("redis_threads.py", port)
    stage.check_replays(checked(running, "visits 90, balance 90", "90 jobs"))


def test_postgres(stage: Stage) -> None:
    port = stage.around.enter_context(postgres_server())
    source = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
    running = stage.record("postgres_threads.py", source)
    stage.check_replays(checked(running, "total 400"))


def test_asyncio_streams(stage: Stage) -> None:
    stage.check_replays(checked(stage.record("asyncio_streams.py"), " lines, "))


def test_subprocesses(stage: Stage) -> None:
    (stage.work / "input.txt").write_text("the input file\n" * 3)
    done = checked(stage.record("subprocesses.py"), "the input file")
    stage.check_replays(done)


def test_sqlite(stage: Stage) -> None:
    running = stage.record("sqlite_threads.py", "new.db")
    stage.check_replays(checked(running, "('tea', 250, 750)", "60 events"))


def test_sqlite_with_contents(stage: Stage) -> None:
    """The file is input as well: a replay does not have it."""
    with closing(sqlite3.connect(stage.work / "old.db")) as connection, connection:
        connection.execute("CREATE TABLE price (item TEXT, cents INT)")
        connection.execute("INSERT INTO price VALUES ('salt', 90)")
    running = stage.record("sqlite_threads.py", "old.db")
    stage.check_replays(checked(running, "('salt', 90, 270)", "60 events"))


def test_sqlalchemy(stage: Stage) -> None:
    running = stage.record("sqlalchemy_threads.py")
    stage.check_replays(checked(running, "24 notes: [('ann', 12), ('bob', 12)]"))


def test_pygame(stage: Stage) -> None:
    pipe = stage.work / "keys"
    os.mkfifo(pipe)
    running = stage.record("pygame_session.py", "keys")
    with pipe.open("wb", buffering=0) as keys:
        for key in b"rrdluulddr" * 3:
            keys.write(bytes([key]))
            time.sleep(0.03)
    stage.check_replays(checked(running, " frames, "))


def test_prompt_toolkit(stage: Stage) -> None:
    terminal = Terminal()
    running = stage.record("prompt_shell.py", terminal=terminal)
    running.wait_for(b" ticks")
    for words in (b"note one", b"no\t two", b"\x1b[A", b"show", b"quit"):
        for key in words:
            terminal.type(bytes([key]))
            time.sleep(0.01)
        time.sleep(0.1)
        terminal.type(b"\r")
        time.sleep(0.1)
    stage.check_replays(checked(running, "state "), shows_output=True)


def test_curses(stage: Stage) -> None:
    terminal = Terminal()
    running = stage.record("curses_editor.py", terminal=terminal)
    running.wait_for(b"pauses")
    for key in b"Dear reader,\nthis is typed\x7f.\n\x18":
        terminal.type(bytes([key]))
        time.sleep(0.02)
    stage.check_replays(checked(running, "3 lines, ", "state "), shows_output=True)


def test_tls_both_sides(stage: Stage) -> None:
    certificate, key = make_certificate(stage.work)
    running = stage.record("tls_echo.py", certificate, key)
    stage.check_replays(checked(running, "66 lines"))


def test_tls_client(stage: Stage) -> None:
    certificate, key = make_certificate(stage.work)
    port = free_port()
    wait_for_port(port, stage.outside("site.py", port, 60, certificate, key))
    running = stage.record("tls_fetch.py", f"https://127.0.0.1:{port}", certificate)
    stage.check_replays(checked(running, "CERTIFICATE_VERIFY_FAILED", "13 pages, /missing 404"))


def test_everything(stage: Stage, site: str) -> None:
    _write_inputs(stage.work)
    port = site.rpartition(":")[2]
    stage.check_replays(checked(stage.record("everything.py", "127.0.0.1", port), "state "))


def _write_inputs(work: Path) -> None:
    (work / "settings.json").write_text('{"depth": 3, "names": ["ann", "bob"]}')
    (work / "prices.csv").write_text("item,cents\ntea,250\njam,320\n")
    (work / "data.bin").write_bytes(os.urandom(5000))
    (work / "long.txt").write_text("a line, of several words\n" * 5000)
    (work / "link").symlink_to("settings.json")
    for number in range(6):
        place = work / "tree" / f"branch{number % 3}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"leaf{number}.txt").write_text(str(number))


def test_process_pool(stage: Stage) -> None:
    running = stage.record("process_pool.py")
    stage.check_replays(checked(running, "31 results, primes below 900: 154"))


def test_interrupted_from_the_terminal(stage: Stage) -> None:
    port, terminal = free_port(), Terminal(shows_output=False)
    running = stage.record("signal_server.py", port, terminal=terminal)
    stage.drive("lines.py", port, 4, 25)
    os.kill(running.program_pid, signal.SIGUSR1)
    running.wait_for(b"so far")
    terminal.type(b"\x03")
    stage.check_replays(checked(running, "interrupted after 100 lines"))


def test_terminated(stage: Stage) -> None:
    port = free_port()
    running = stage.record("signal_server.py", port)
    stage.drive("lines.py", port, 4, 25)
    running.process.send_signal(signal.SIGTERM)
    stage.check_replays(checked(running, "signal SIGTERM after 100 lines"))
