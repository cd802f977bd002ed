"""Recordings read with the names the format's own tests know, whatever the core calls them."""

from __future__ import annotations

import pytest

from reenact.events import Names

from . import build


@pytest.fixture
def names() -> Names:
    return Names(build.OPERATIONS, build.OBJECTS)
