"""Points in test modules, whose code pytest makes itself to rewrite their assertions.

Our rewriting goes on top of pytest's. The result is never written to disk: a plain pytest must not
find it.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook, rewrite_asserts

from reenact.explore import instrumented
from reenact.instrument import loader
from reenact.instrument.rewrite import insert_points


def install(config: pytest.Config) -> None:
    for finder in sys.meta_path:
        if isinstance(finder, AssertionRewritingHook) and "exec_module" not in vars(finder):
            _extend(finder, config)


def _extend(hook: AssertionRewritingHook, config: pytest.Config) -> None:
    plain = hook.exec_module

    def exec_module(module: ModuleType) -> None:
        spec = module.__spec__
        path = spec.origin if spec is not None else None
        if path is None or not instrumented.wants(module.__name__, path):
            plain(module)
            return
        with open(path, "rb") as file:
            source = file.read()
        code = _code_of(path, source, config)
        if code is None:
            plain(module)
            return
        hook._rewritten_names[module.__name__] = Path(path)
        instrumented.note_done(path, source)
        exec(code, module.__dict__)

    hook.exec_module = exec_module  # type: ignore[method-assign]


def _code_of(path: str, source: bytes, config: pytest.Config) -> CodeType | None:
    """None if it cannot be rewritten: pytest then says what is wrong with it, if anything."""
    try:
        tree = ast.parse(source, filename=path)
        rewrite_asserts(tree, source, path, config)
        stored = insert_points(tree, accesses=instrumented.has_accesses())
        code = compile(tree, path, "exec", dont_inherit=True)
    except Exception:
        return None
    if stored is not None:
        code = stored.noted(code)
        loader.note_loaded(path, code)
    return instrumented.plant(code)
