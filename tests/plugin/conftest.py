"""Directories to write tests in, for sessions of pytest with our plugin alone or with others."""

from __future__ import annotations

import pytest

from tests.plugin.harness import HAS_ENTRY_POINT, Bench


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Without other plugins: to load all that are installed takes several times as long as most
    sessions do."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "reenact_pytest")
    return Bench(pytester)


@pytest.fixture
def beside(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """With all plugins that are installed, found as pytest finds them. What pytest makes of their
    code is kept for the next session."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    if not HAS_ENTRY_POINT:
        monkeypatch.setenv("PYTEST_PLUGINS", "reenact_pytest")
    bench = Bench(pytester)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return bench
