"""Servers that scenarios need around them, real ones, private: free ports, data in own directories.

What is not installed skips the scenario, and the reason says what to install.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LIMIT_S = 60


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"{process.args!r} does not listen on port {port}")


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Whatever happens, the process has ended afterwards."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def redis_server(directory: Path) -> Iterator[int]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed: tools/install-servers as root")
    port = free_port()
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(directory)]
    words += ["--save", "", "--appendonly", "no"]
    with ended(subprocess.Popen(words, stdout=subprocess.DEVNULL)) as process:
        wait_for_port(port, process)
        yield port


@contextmanager
def postgres_server() -> Iterator[int]:
    """As the user postgres if we are root, which PostgreSQL refuses to run as."""
    programs = _postgres_programs()
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="reenact-postgres-") as directory:
        user = "postgres" if os.getuid() == 0 else None
        if user is not None:
            shutil.chown(directory, user)
        data = Path(directory, "data")
        make = [f"{programs}/initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-N"]
        made = subprocess.run(make, user=user, cwd=directory, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        serve = [f"{programs}/postgres", "-D", str(data), "-p", str(port), "-k", directory, "-F"]
        serve += ["-c", "listen_addresses=127.0.0.1", "-c", "deadlock_timeout=100ms"]
        server = subprocess.Popen(serve, user=user, cwd=directory, stderr=subprocess.DEVNULL)
        with ended(server) as process:
            wait_for_port(port, process)
            _wait_for_database(programs, port)
            yield port


def _postgres_programs() -> Path:
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places:
        pytest.skip("PostgreSQL is not installed: tools/install-servers as root")
    return places[0]


def _wait_for_database(programs: Path, port: int) -> None:
    ask = [f"{programs}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    deadline = time.monotonic() + LIMIT_S
    while subprocess.run(ask).returncode and time.monotonic() < deadline:
        time.sleep(0.05)


def make_certificate(directory: Path) -> tuple[Path, Path]:
    """Self-signed, for localhost: the certificate and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    words = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30000"]
    words += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [*words, "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL
    )
    return certificate, key
