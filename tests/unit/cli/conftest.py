"""Commands called as `reenact` calls them, on recordings with known names."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.cli import dump, info, pack
from reenact.events import Names
from reenact.recordings import streams

from ..recordings import build


@pytest.fixture(autouse=True)
def known_names(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(build.OPERATIONS, build.OBJECTS)
    monkeypatch.setattr(streams, "core_names", lambda: names)


@pytest.fixture
def reenact() -> Callable[..., int]:
    parser = argparse.ArgumentParser("reenact")
    subparsers = parser.add_subparsers()
    for command in (dump, info, pack):
        command.add_parser(subparsers)

    def call(*words: object) -> int:
        args = parser.parse_args([str(word) for word in words])
        code: int = args.run(args)
        return code

    return call


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return build.sample().directory(tmp_path / "run.reenact.d")
