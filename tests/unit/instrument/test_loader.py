"""Instrumented modules import, and are found, as any other; the rest is left alone."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.resources
import importlib.util
import inspect
import itertools
import os
import pkgutil
import py_compile
import runpy
import shutil
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from reenact.engine import launch
from reenact.instrument import loader
from reenact.instrument.cache import digest_of
from reenact.instrument.loader import InstrumentingLoader, InstrumentingZipLoader, Policy
from reenact.instrument.rewrite import rewrite

from .standins import in_child, plant

LOOP = "for i in range(3):\n    pass\n"
LIBRARY = os.path.dirname(os.__file__)
ROOT = Path(__file__).parents[3]


class Bench:
    """A directory of modules, the hook, and what the hook did."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.sources: list[tuple[str, str]] = []
        self.skipped: list[tuple[str, str]] = []
        self.children = 0
        self._counter = itertools.count()
        self._seen = 0

    def write(self, name: str, text: str = LOOP) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        importlib.invalidate_caches()
        return path

    def install(self, *packages: str, enabled: bool = True) -> None:
        policy = Policy(packages, enabled)
        loader.install(policy, self.plant, self.note_source, self.warm, self.note_skipped)

    def parts(self) -> tuple[Any, ...]:
        return Policy(), self.plant, self.note_source, self.warm, self.note_skipped

    def plant(self, code: CodeType) -> None:
        plant(code, type("Tick", (), {"__neg__": self._counter.__next__})())

    def note_source(self, path: str, digest: str) -> None:
        self.sources.append((path, digest))

    def note_skipped(self, path: str, reason: str) -> None:
        self.skipped.append((path, reason))

    def warm(self, job: Callable[[], object]) -> bool:
        self.children += 1
        return in_child(job)

    def ticks(self) -> int:
        """How many since the last time."""
        total = next(self._counter) - self._seen
        self._seen += total + 1
        return total

    def again(self, name: str) -> ModuleType:
        """Import as a new process would."""
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    modules, finders = dict(sys.modules), list(sys.meta_path)
    directory = tmp_path / "code"
    directory.mkdir()
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(directory))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    bench = Bench(directory)
    bench.install()
    yield bench
    loader.uninstall()
    sys.meta_path[:] = finders
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.modules.update(modules)


@pytest.mark.parametrize(
    ("name", "path", "wanted"),
    [
        ("program", "/home/me/program.py", True),
        ("__main__", "program.py", True),
        ("json.encoder", f"{LIBRARY}/json/encoder.py", False),
        ("numpy", f"{LIBRARY}/site-packages/numpy/__init__.py", False),
        ("numpy", "/home/me/.venv/lib/python3.11/site-packages/numpy/__init__.py", False),
        ("apt", "/usr/lib/python3/dist-packages/apt/__init__.py", False),
        ("queue", f"{LIBRARY}/queue.py", True),
        ("concurrent.futures", f"{LIBRARY}/concurrent/futures/__init__.py", True),
        ("concurrent.futures.thread", f"{LIBRARY}/concurrent/futures/thread.py", True),
        ("concurrent", f"{LIBRARY}/concurrent/__init__.py", False),
        ("queueing", f"{LIBRARY}/site-packages/queueing.py", False),
        ("reenact", "/home/me/reenact/__init__.py", False),
        ("reenact.instrument.loader", "/home/me/reenact/instrument/loader.py", False),
        ("reenact_pytest", "/home/me/reenact_pytest.py", False),
        ("reenactment", "/home/me/reenactment.py", True),
    ],
)
def test_policy(name: str, path: str, wanted: bool) -> None:
    assert Policy(["queue", "concurrent.futures"]).wants(name, path) is wanted
    assert not Policy(["queue", "concurrent.futures"], enabled=False).wants(name, path)


def test_naming_reenact_does_not_instrument_it() -> None:
    assert not Policy(["reenact"]).wants("reenact.errors", "/home/me/reenact/errors.py")


def test_a_module_ticks_and_is_noted(bench: Bench) -> None:
    path = bench.write("program.py")
    importlib.import_module("program")
    assert bench.ticks() == 3
    assert bench.sources == [(str(path), digest_of(path.read_bytes()))]


def test_a_module_looks_as_it_always_does(bench: Bench) -> None:
    path = bench.write("program.py", "def f():\n    return 1\n")
    module = importlib.import_module("program")
    spec = module.__spec__
    assert spec is not None
    assert (module.__file__, spec.origin) == (str(path), str(path))
    assert module.__cached__ == importlib.util.cache_from_source(str(path))
    assert isinstance(module.__loader__, SourceFileLoader)
    assert module.__loader__ is spec.loader
    assert inspect.getsource(module) == path.read_text()
    assert module.f.__code__.co_filename == str(path)
    assert not (bench.directory / "__pycache__").exists()


def test_the_second_time_comes_from_the_cache(bench: Bench) -> None:
    bench.write("program.py")
    bench.again("program")
    assert (bench.children, bench.ticks()) == (1, 3)
    bench.again("program")
    assert (bench.children, bench.ticks()) == (1, 3)


def test_rewriting_never_happens_in_this_process(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.getpid()

    def elsewhere(source: bytes, filename: str, **settings: bool) -> CodeType | None:
        assert os.getpid() != here
        return rewrite(source, filename, **settings)

    monkeypatch.setattr(loader, "rewrite", elsewhere)
    bench.write("program.py")
    bench.again("program")
    bench.again("program")
    assert bench.ticks() == 6


def test_a_cache_that_cannot_be_written(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REENACT_CACHE_DIR", "/dev/null/cache")
    bench.install()
    bench.write("program.py")
    importlib.import_module("program")
    assert bench.ticks() == 3


def test_a_damaged_entry(bench: Bench) -> None:
    bench.write("program.py")
    bench.again("program")
    for path in Path(os.environ["REENACT_CACHE_DIR"]).rglob("*"):
        if path.is_file():
            path.write_bytes(b"nonsense")
    for _ in range(3):
        bench.again("program")
    assert (bench.children, bench.ticks()) == (2, 12)


def test_a_syntax_error_is_raised_here(bench: Bench) -> None:
    path = bench.write("program.py", "x = 1\nx = = 2\n")
    with pytest.raises(SyntaxError) as caught:
        importlib.import_module("program")
    assert (caught.value.filename, caught.value.lineno) == (str(path), 2)
    assert "program" not in sys.modules


def test_what_is_nested_too_deeply_runs_untouched(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "rewrite", lambda source, path, **settings: None)
    path = bench.write("program.py", "x = 1\n" + LOOP)
    assert importlib.import_module("program").x == 1
    assert bench.ticks() == 0
    assert bench.skipped == [(str(path), "it is nested too deeply")]


def test_packages(bench: Bench) -> None:
    bench.write("package/__init__.py", "from . import first\n" + LOOP)
    bench.write("package/first.py", "from .inner.second import x\n" + LOOP)
    bench.write("package/inner/__init__.py", "")
    bench.write("package/inner/second.py", "x = 1\n" + LOOP)
    package = importlib.import_module("package")
    assert (package.first.x, bench.ticks()) == (1, 9)
    assert list(package.__path__) == [str(bench.directory / "package")]
    assert [found.name for found in pkgutil.iter_modules(package.__path__)] == ["first", "inner"]


def test_namespace_packages(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("one/space/first.py")
    bench.write("two/space/second.py")
    monkeypatch.syspath_prepend(str(bench.directory / "one"))
    monkeypatch.syspath_prepend(str(bench.directory / "two"))
    importlib.import_module("space.first")
    importlib.import_module("space.second")
    assert bench.ticks() == 6


def test_data_of_a_package(bench: Bench) -> None:
    bench.write("package/__init__.py")
    bench.write("package/data.txt", "some data")
    package = importlib.import_module("package")
    assert pkgutil.get_data("package", "data.txt") == b"some data"
    assert importlib.resources.files(package).joinpath("data.txt").read_text() == "some data"


def test_reload_sees_the_new_source(bench: Bench) -> None:
    bench.write("program.py", "x = 1\n" + LOOP)
    module = importlib.import_module("program")
    bench.write("program.py", "x = 2\n" + LOOP)
    assert importlib.reload(module).x == 2
    assert bench.ticks() == 6


def test_runpy(bench: Bench) -> None:
    bench.write("program.py", "name = __name__\n" + LOOP)
    assert runpy.run_module("program", run_name="other")["name"] == "other"
    assert bench.ticks() == 3


def test_the_library_is_left_alone(bench: Bench) -> None:
    loader_type = type(bench.again("textwrap").__loader__)
    assert (loader_type, bench.sources) == (SourceFileLoader, [])


def test_a_named_library_package(bench: Bench) -> None:
    bench.install("json", "textwrap")
    bench.again("textwrap")
    assert textwrap.dedent is not sys.modules["textwrap"].dedent
    assert sys.modules["textwrap"].dedent("  a\n  b") == "a\nb"
    assert bench.ticks() > 0
    bench.again("json.encoder")
    assert [os.path.basename(path) for path, _ in bench.sources] == ["textwrap.py", "encoder.py"]


def test_nothing_when_disabled(bench: Bench) -> None:
    bench.install(enabled=False)
    bench.write("program.py")
    assert type(importlib.import_module("program").__loader__) is SourceFileLoader
    assert (bench.ticks(), bench.sources) == (0, [])


def test_uninstall(bench: Bench) -> None:
    before = [finder for finder in sys.meta_path if not isinstance(finder, loader.Finder)]
    loader.uninstall()
    assert sys.meta_path == before
    loader.uninstall()
    bench.write("program.py")
    importlib.import_module("program")
    assert bench.ticks() == 0


def test_installing_twice_leaves_one_hook(bench: Bench) -> None:
    bench.install()
    assert sum(isinstance(finder, loader.Finder) for finder in sys.meta_path) == 1


def test_builtin_and_frozen_modules_keep_their_place(bench: Bench) -> None:
    bench.write("time.py", "raise AssertionError\n")
    bench.write("__hello__.py", "raise AssertionError\n")
    for name, origin in (("time", "built-in"), ("__hello__", "frozen")):
        sys.modules.pop(name, None)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin == origin


def test_what_later_finders_find_is_instrumented(bench: Bench) -> None:
    path = bench.write("hidden/program.py")

    class Editable:
        @staticmethod
        def find_spec(name: str, path_: object = None, target: object = None) -> ModuleSpec | None:
            if name != "editable":
                return None
            return importlib.util.spec_from_file_location(name, path)

    sys.meta_path.append(Editable)
    importlib.import_module("editable")
    assert bench.ticks() == 3


def test_a_finder_that_asks_all_others_once(bench: Bench) -> None:
    bench.write("program.py")
    asked: list[str] = []

    class Watching:
        """As wrapt's and others' do."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            if name in asked:
                return None
            asked.append(name)
            return importlib.util.find_spec(name)

    sys.meta_path.insert(1, Watching)
    importlib.import_module("program")
    assert (bench.ticks(), bench.skipped) == (3, [])


class OwnLoader(SourceFileLoader):
    """Compiles in a way of its own."""

    def source_to_code(self, data: Any, path: Any) -> CodeType:  # type: ignore[override]
        return compile("x = 42\n", path, "exec")


class SameLoader(SourceFileLoader):
    """Adds what has nothing to do with compiling."""

    colour = "blue"


@pytest.mark.parametrize(("kind", "ticks"), [(OwnLoader, 0), (SameLoader, 3)])
def test_other_loaders_of_source(
    kind: type[SourceFileLoader], ticks: int, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("program.py")
    hook = importlib.machinery.FileFinder.path_hook((kind, [".py"]))
    monkeypatch.setattr(sys, "path_hooks", [hook])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    importlib.import_module("program")
    assert bench.ticks() == ticks
    assert [reason for _, reason in bench.skipped] == (
        ["its loader, OwnLoader, makes its code"] if kind is OwnLoader else []
    )


def test_modules_without_source_are_reported(bench: Bench) -> None:
    source = bench.write("program.py", "x = 1\n" + LOOP)
    target = bench.directory / "program.pyc"
    py_compile.compile(str(source), str(target))
    source.unlink()
    assert bench.again("program").x == 1
    assert [path for path, _ in bench.skipped] == [str(target)]


@pytest.fixture
def archive(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = bench.directory / "archive.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("zipped/__init__.py", "from . import inner\n" + LOOP)
        file.writestr("zipped/inner.py", "# coding: latin-1\nx = '\xe9'\n".encode("latin-1"))
        file.writestr("zipped/data.txt", "some data")
        file.writestr("__main__.py", "x = 7\n" + LOOP)
    monkeypatch.syspath_prepend(str(path))
    return path


def test_zip_archives(bench: Bench, archive: Path) -> None:
    module = importlib.import_module("zipped")
    assert isinstance(module.__loader__, InstrumentingZipLoader)
    assert (module.inner.x, bench.ticks()) == ("\xe9", 3)
    assert module.__file__ == str(archive / "zipped" / "__init__.py")
    assert module.__loader__.get_source("zipped") == inspect.getsource(module)
    assert importlib.resources.files(module).joinpath("data.txt").read_text() == "some data"
    assert module.__loader__.get_code("__main__").co_name == "<module>"
    assert [path for path, _ in bench.sources] == [module.__file__, module.inner.__file__]


def test_bytecode_in_an_archive(bench: Bench, archive: Path) -> None:
    source = bench.write("both.py")
    py_compile.compile(str(source), str(source) + "c")
    with zipfile.ZipFile(archive, "a") as file:
        file.write(source, "both.py")
        file.write(str(source) + "c", "both.pyc")
        file.write(str(source) + "c", "bytecode.pyc")
    source.unlink()
    Path(str(source) + "c").unlink()
    bench.again("both")
    assert bench.ticks() == 3
    bench.again("bytecode")
    assert (bench.ticks(), len(bench.skipped)) == (0, 1)


def test_a_script(bench: Bench) -> None:
    path = bench.write("script.py", "name = __name__\n" + LOOP)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(loader.code_for_script(str(path), *bench.parts()), space)
    assert (space["name"], bench.ticks()) == ("__main__", 3)
    assert bench.sources == [(str(path), digest_of(path.read_bytes()))]
    assert not (bench.directory / "__pycache__").exists()


def test_a_script_left_alone(bench: Bench) -> None:
    path = bench.write("site-packages/script.py")
    exec(loader.code_for_script(str(path), *bench.parts()), {})
    assert (bench.ticks(), bench.sources, bench.children) == (0, [], 0)
    assert not path.with_name("__pycache__").exists()


def test_a_script_that_is_not_there(bench: Bench) -> None:
    with pytest.raises(FileNotFoundError):
        loader.code_for_script(str(bench.directory / "nothing.py"), *bench.parts())


@pytest.mark.parametrize("installed", [True, False])
def test_a_main_module(installed: bool, bench: Bench) -> None:
    bench.write("package/__init__.py", "")
    bench.write("package/program.py")
    if not installed:
        loader.uninstall()
    code, spec = loader.code_for_module("package.program", *bench.parts())
    exec(code, {})
    assert (spec.name, spec.parent, bench.ticks()) == ("package.program", "package", 3)
    assert isinstance(spec.loader, InstrumentingLoader)
    assert len(bench.sources) == (2 if installed else 1)


def test_a_main_package(bench: Bench) -> None:
    bench.write("package/__init__.py", "")
    bench.write("package/__main__.py")
    code, spec = loader.code_for_module("package", *bench.parts())
    exec(code, {})
    assert (spec.name, bench.ticks()) == ("package.__main__", 3)


def test_a_main_module_left_alone(bench: Bench) -> None:
    code, spec = loader.code_for_module("json.tool", *bench.parts())
    assert (type(spec.loader), code.co_name, bench.sources) == (SourceFileLoader, "<module>", [])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "No module named nothing"),
        ("package", "No module named package.__main__; 'package' is a package"),
        (".x", "Relative module names not supported"),
    ],
)
def test_a_main_module_that_is_not_there(name: str, message: str, bench: Bench) -> None:
    bench.write("package/__init__.py", "")
    with pytest.raises(ImportError, match=message):
        loader.code_for_module(name, *bench.parts())


def test_main_of_an_archive(bench: Bench, archive: Path) -> None:
    code, spec = loader.code_for_module("__main__", *bench.parts())
    exec(code, {})
    assert (spec.origin, bench.ticks()) == (str(archive / "__main__.py"), 3)


def test_main_of_a_directory(bench: Bench) -> None:
    path = bench.write("__main__.py")
    code, spec = loader.code_for_module("__main__", *bench.parts())
    exec(code, {})
    assert (spec.origin, bench.ticks()) == (str(path), 3)


def test_missed(bench: Bench) -> None:
    loader.uninstall()
    bench.write("early.py")
    importlib.import_module("early")
    bench.install()
    bench.write("late.py")
    importlib.import_module("late")
    found = loader.missed(Policy(["json"]))
    assert {"early", "json", "json.decoder"} <= set(found)
    assert not {"late", "os", "sys", "reenact"} & set(found)


class TestBytecodeOfOthers:
    """A .pyc that is missing or stale is made by a child."""

    @pytest.fixture
    def source(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
        path = bench.write("site-packages/installed.py", "x = 1\n")
        monkeypatch.syspath_prepend(str(path.parent))
        return path

    def test_missing(self, bench: Bench, source: Path) -> None:
        module = bench.again("installed")
        assert (bench.children, module.x) == (1, 1)
        assert Path(module.__cached__).exists()
        assert type(module.__loader__) is SourceFileLoader
        bench.again("installed")
        assert bench.children == 1

    def test_compiling_never_happens_in_this_process(
        self, bench: Bench, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here, compiled = os.getpid(), SourceFileLoader.source_to_code

        def elsewhere(self: SourceFileLoader, data: Any, path: Any, **rest: Any) -> CodeType:
            assert os.getpid() != here
            return compiled(self, data, path, **rest)

        monkeypatch.setattr(SourceFileLoader, "source_to_code", elsewhere)
        assert bench.again("installed").x == 1

    def test_stale(self, bench: Bench, source: Path) -> None:
        bench.again("installed")
        source.write_text("x = 1234\n")
        assert bench.again("installed").x == 1234
        assert bench.children == 2

    def test_of_another_python(self, bench: Bench, source: Path) -> None:
        cached = Path(bench.again("installed").__cached__)
        cached.write_bytes(b"\0\0\r\n" + cached.read_bytes()[4:])
        assert bench.again("installed").x == 1
        assert bench.children == 2

    def test_with_a_hash(self, bench: Bench, source: Path) -> None:
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), invalidation_mode=mode)
        source.write_text("x = 1234\n")
        assert bench.again("installed").x == 1
        assert bench.children == 0

    def test_not_to_be_written(
        self, bench: Bench, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        assert bench.again("installed").x == 1
        assert bench.children == 0

    def test_cannot_be_written(
        self, bench: Bench, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(loader, "_is_writable", lambda directory: False)
        assert bench.again("installed").x == 1
        assert bench.children == 0

    def test_with_a_syntax_error(self, bench: Bench, source: Path) -> None:
        source.write_text("x = = 1\n")
        with pytest.raises(SyntaxError):
            bench.again("installed")


def run(code: str, *command: str, argument: str = "", **environment: str) -> str:
    """What a fresh interpreter prints."""
    paths = f"{ROOT / 'src'}:{ROOT}"
    settled, _ = launch.settle(dict(os.environ))
    variables = {**settled, "PYTHONPATH": paths, **environment}
    done = subprocess.run(
        [*command, "-c", code, argument], env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_little_is_imported() -> None:
    bare = run("import sys\nprint(*sys.modules)", sys.executable, "-S").split()
    with_hook = run(
        "import sys, reenact.instrument.loader\nprint(*sys.modules)", sys.executable, "-S"
    ).split()
    others = {name for name in with_hook if not name.startswith("reenact")} - set(bare)
    assert others <= {
        *("__future__", "_ast", "_sha2", "_sha256", "importlib", "importlib.machinery"),
        *("importlib._bootstrap", "importlib._bootstrap_external", "warnings"),
        *("_collections_abc", "genericpath", "os", "os.path", "posixpath", "stat", "_stat"),
        "errno",
    }


LAYOUT = """
import sys
from reenact import _core
from reenact.engine import launch
from reenact.instrument import loader
from tests.unit.instrument.standins import plant
names = ["json.scanner", "textwrap", "csv", "difflib", "missing", "stale"]
sys.path.insert(0, sys.argv[1])
loader.install(loader.Policy(names[:4]), plant, lambda path, digest: None, _core.in_child)
sys.dont_write_bytecode = False
for name in names:
    __import__(name)
values = [value for name in names for _, value in sorted(vars(sys.modules[name]).items())]
print(*map(id, values), id(object()), id([]), id({}), id(lambda: 0), id("x" * len(values)))
"""


def test_layout_is_the_same_with_a_cold_and_a_warm_cache(tmp_path: Path) -> None:
    pytest.importorskip("reenact._core")
    setarch = shutil.which("setarch")
    if setarch is None or subprocess.run([setarch, "-R", "true"]).returncode:
        pytest.skip("addresses cannot be fixed here")
    installed = tmp_path / "site-packages"
    (installed / "__pycache__").mkdir(parents=True)
    (installed / "missing.py").write_bytes(Path(textwrap.__file__).read_bytes())
    (installed / "stale.py").write_text("x = 1\n")
    py_compile.compile(str(installed / "stale.py"))
    (installed / "stale.py").write_text("x, y = 1, 2\n")

    def layout() -> str:
        places = {"REENACT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        return run(LAYOUT, setarch, "-R", sys.executable, argument=str(installed), **places)

    cold = layout()
    assert len(list((tmp_path / "cache").rglob("*"))) > 4
    assert len(list((installed / "__pycache__").iterdir())) == 2
    assert layout() == cold
