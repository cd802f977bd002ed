"""Declared boundaries: which modules have some, and how their functions and classes are replaced.

Called by `install.py` with what the configuration declares, as `module:name` or `module:*`. A few
packages that reach outside from C are declared here. Nothing else of boundaries is loaded before
such a module is.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    Patch = Callable[[ModuleType], None]

# Modules of reenact that patch a module of the same package as a whole.
_SHIPPED = {
    "_sqlite3": "sqlite",
    "psycopg2._psycopg": "psycopg",
    "pygame.event": "games",
    "pygame.key": "games",
    "pygame.mouse": "games",
    "pygame.time": "games",
    "pygame.joystick": "games",
}
SHIPPED = ("sqlite3", "psycopg2", "pygame")


def patches(declared: Iterable[str]) -> dict[str, Patch]:
    """By module, what is to be done when it is loaded."""
    names: dict[str, list[str]] = {}
    for text in declared:
        module, _, name = text.partition(":")
        if module.partition(".")[0] not in SHIPPED:
            names.setdefault(module, []).append(name)
    found = {module: _shipped(ours) for module, ours in _SHIPPED.items()}
    return {**found, **{module: _declared(wanted) for module, wanted in names.items()}}


def _shipped(ours: str) -> Patch:
    def patch(module: ModuleType) -> None:
        name = f"reenact.intercept.{ours}"
        __import__(name)
        sys.modules[name].patch(module)

    return patch


def _declared(names: list[str]) -> Patch:
    def patch(module: ModuleType) -> None:
        from reenact.intercept import declared

        declared.patch(module, names)

    return patch
