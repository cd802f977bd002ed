"""Imports go one way, from leaves to the command line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "reenact"

# Each layer may import itself and the layers before it.
LAYERS = (
    ("errors", "events", "findings", "version", "pyversion", "inputs", "config", "_core"),
    ("recordings", "strategies"),
    ("intercept", "instrument"),
    ("analysis",),
    ("engine",),
    ("explore", "debug"),
    ("guard",),
    ("api", "cli"),
    ("__init__", "__main__"),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def imported(path: Path) -> list[str]:
    """The parts of reenact that a module imports, hidden imports in functions included."""
    parts = []
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            is_package = node.module == "reenact"
            names = (
                [f"reenact.{alias.name}" for alias in node.names] if is_package else [node.module]
            )
        else:
            continue
        parts += [name.split(".")[1] for name in names if name.startswith("reenact.")]
    return parts


def test_every_module_has_a_layer() -> None:
    assert {part_of(path) for path in MODULES} - set(RANK) == set()


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_go_one_way(path: Path) -> None:
    rank = RANK[part_of(path)]
    upwards = [name for name in imported(path) if RANK[name] > rank]
    assert upwards == []


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_says_what_it_owns(path: Path) -> None:
    assert ast.get_docstring(ast.parse((ROOT / path).read_text("utf-8")))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "_core").glob("*.[ch]")), ids=lambda path: path.name
)
def test_a_c_file_says_what_it_owns(path: Path) -> None:
    assert path.read_text("utf-8").startswith("/*")


@pytest.mark.parametrize("path", sorted((ROOT / "_core").glob("*.c")), ids=lambda path: path.name)
def test_version_ifs_live_in_compat_alone(path: Path) -> None:
    assert "PY_VERSION_HEX" not in path.read_text("utf-8")


def test_only_pyversion_reads_the_version() -> None:
    readers = [path for path in MODULES if "version_info" in (ROOT / path).read_text("utf-8")]
    assert [str(path) for path in readers] == ["pyversion.py"]
