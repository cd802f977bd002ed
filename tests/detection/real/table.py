"""The real bugs of the detection suite: which package has it, and which has it no more.

Owns the list of the scripts here. Each drives the package's public API from `main()`, which can be
called again in the same process, and fails under a rare interleaving.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["assertion", "exception", "deadlock", "hang"]

DIRECTORY = Path(__file__).parent


@dataclass(frozen=True)
class RealBug:
    name: str
    instrument: str  # the package whose code needs points
    kind: Kind  # "hang": something waits for the outside, so that not all threads wait for locks
    buggy: tuple[str, ...]  # what to install; nothing if it is in the standard library
    fixed: tuple[str, ...] | None  # None: no release on PyPI has the cure
    python: str = ""  # where the standard library has the bug: the versions that do
    is_asyncio: bool = False

    @property
    def path(self) -> Path:
        return DIRECTORY / f"{self.name}.py"


_HTTPCORE = (
    "anyio==4.16.0",
    "certifi==2026.10.18",
    "h11==0.14.0",
    "idna==3.20",
    "sniffio==1.3.1",
    "typing_extensions==4.16.0",
)
_OPENTELEMETRY = ("importlib_metadata==8.7.1", "typing_extensions==4.16.0", "zipp==4.1.2")
_AIOHTTP = (
    "aiohappyeyeballs==2.7.1",
    "aiosignal==1.4.0",
    "attrs==26.1.0",
    "frozenlist==1.8.0",
    "idna==3.20",
    "multidict==6.9.1",
    "propcache==0.5.4",
    "typing_extensions==4.16.0",
    "yarl==1.25.1",
)
_RPYC = ("plumbum==2.0.2", "typing_extensions==4.16.0")

REAL_BUGS = [
    RealBug("sqlparse_lexer", "sqlparse", "assertion", ("sqlparse==0.4.4",), ("sqlparse==0.5.0",)),
    RealBug(
        "httpcore_status",
        "httpcore",
        "assertion",
        ("httpcore==0.16.1", *_HTTPCORE),
        ("httpcore==0.16.2", *_HTTPCORE),
    ),
    RealBug("loguru_remove", "loguru", "exception", ("loguru==0.7.2",), ("loguru==0.7.3",)),
    RealBug(
        "otel_reservoir",
        "opentelemetry",
        "exception",
        (
            "opentelemetry-api==1.40.0",
            "opentelemetry-sdk==1.40.0",
            "opentelemetry-semantic-conventions==0.61b0",
            *_OPENTELEMETRY,
        ),
        (
            "opentelemetry-api==1.45.2",
            "opentelemetry-sdk==1.45.2",
            "opentelemetry-semantic-conventions==0.66b2",
            *_OPENTELEMETRY,
        ),
    ),
    RealBug(
        "watchdog_debouncer", "watchdog", "deadlock", ("watchdog==6.0.0",), ("watchdog==7.0.0",)
    ),
    RealBug(
        "prometheus_gc",
        "prometheus_client",
        "deadlock",
        ("prometheus_client==0.5.0",),
        ("prometheus_client==0.6.0",),
    ),
    RealBug("redis_pool", "redis", "assertion", ("redis==3.3.11",), ("redis==3.4.0",)),
    RealBug(
        "aiohttp_limit",
        "aiohttp",
        "hang",
        ("aiohttp==3.10.10", *_AIOHTTP),
        ("aiohttp==3.10.11", *_AIOHTTP),
        is_asyncio=True,
    ),
    RealBug("paho_callback", "paho", "deadlock", ("paho-mqtt==1.5.1",), ("paho-mqtt==1.6.0",)),
    RealBug(
        "asyncio_condition", "asyncio", "deadlock", (), None, python="3.11, 3.12", is_asyncio=True
    ),
    RealBug("rpyc_reply", "rpyc", "hang", ("rpyc==5.3.1", *_RPYC), ("rpyc==6.0.0", *_RPYC)),
    RealBug("logging_handler", "logging", "assertion", (), None, python="3.11, 3.12, 3.13"),
]
