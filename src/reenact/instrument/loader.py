"""The import hook: modules of the program load as code that ticks.

Owns which modules are instrumented (`Policy`), how their code comes to be (`Instrumenter`) and
the place of both in the import system (`Finder`). The engine installs it before the program
starts and asks it for the code of the main script or module.

The finder stands first in `sys.meta_path`, asks the finders behind it in their order, and changes
only what they find: where a module comes from is decided as ever. The loaders it puts in differ
from Python's own in `get_code` alone, and never write `__pycache__`.

A recording and its replay must place their objects alike, though one finds the cache cold and
the other warm. So what is not in the cache is made in a child process (*warm*), and this process
then loads it the same way in either case; a stale or missing .pyc of a module left alone is made
so too. Hence no locks, no threads and no imports here. In one case the layout still depends on
what was on disk: if the cache cannot be written, or an entry is damaged, the rewriting happens in
this process.

Left out on purpose: code the program compiles for itself (`exec`, `runpy.run_path`), and loaders
that do so (pytest's assertion rewriting); the latter are reported to *note_skipped*. Modules in a
zip archive are compiled twice, since Python's own importer compiles them to find their path.
A traceback through a module with a syntax error shows our frames.
"""

from __future__ import annotations

import sys
from importlib._bootstrap_external import MAGIC_NUMBER  # as importlib.util does, at no cost
from importlib.machinery import ExtensionFileLoader, SourceFileLoader

# Bound now, before the interceptors replace them: what we read is no input of the program.
from os import O_CLOEXEC, O_RDONLY, R_OK, W_OK, access, close, read, stat
from os import __file__ as os_file
from os import open as open_fd
from os.path import dirname
from zipimport import zipimporter

from reenact.instrument.cache import Cache, default_root, digest_of, key_for
from reenact.instrument.elsewhere import Known
from reenact.instrument.rewrite import (
    ACCESSES_VERSION,
    ALL,
    COLD,
    COLD_LOOKED_AT,
    DETECTOR,
    HEURISTIC,
    IN_RANGES,
    rewrite,
)
from reenact.instrument.shared import MODULES, give_sites
from reenact.pyversion import HAS_GIL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

    Plant = Callable[[CodeType], object]
    Note = Callable[[str, str], object]
    Warm = Callable[[Callable[[], object]], object]

_OURS = ("reenact", "reenact_pytest")
_STANDARD_LIBRARY = dirname(os_file) + "/"
_INSTALLED = ("/site-packages/", "/dist-packages/")
_COMPILING = ("get_code", "source_to_code", "get_data", "exec_module")


# Among the names of packages: accesses have points, not only ticks; or races are looked for, with
# a share of variables and a seed after the equals sign; or that with fewer sites, on trust;
# or nobody will read the log of the run's operations; or ticks are in ranges.
ACCESSES, RACES, ON_TRUST, UNKEPT = "@accesses", "@races=", "@heuristic", "@unkept"
RANGES = "@ranges"
# The order of accesses is kept: some modules of the standard library have sites as well (shared.py)
SHARED = "@shared"
COLD_CODE = "@cold"  # and accesses are those of code that is new to its thread (cold.py)
lent: set[str] = set()  # files that have sites for that alone: what races in there is not told
COMMAND = "<string>"  # what Python calls the file of `python -c`


class Policy:
    """Which modules are instrumented: the program's own, and the packages named.

    With *accesses*, not only ticks are put in but the sites of `accesses.py`, which are points if
    it *has_points*: where races are looked for they may be there for that alone.
    """

    def __init__(
        self,
        instrument: Iterable[str] = (),
        enabled: bool = True,
        accesses: bool = False,
        races: str = "",
        has_points: bool = True,
        is_heuristic: bool = False,
        is_kept: bool = True,
        in_ranges: bool = False,
        is_shared: bool = False,
        is_cold: bool = False,
    ) -> None:
        self.is_shared = is_shared
        self.packages = tuple(instrument)
        self.enabled = enabled
        self.accesses = accesses
        self.races = races
        self.has_points = has_points
        self.is_kept = is_kept
        self.manner = IN_RANGES if in_ranges and not accesses else ALL
        if races and not has_points:  # where sites are points, each of them counts
            self.manner = HEURISTIC if is_heuristic else DETECTOR
        elif is_cold:
            self.manner = COLD_LOOKED_AT if races else COLD
        if accesses:  # imported now: later another thread may hold its lock
            import reenact.instrument.accesses  # noqa: F401

    @classmethod
    def of(cls, names: list[str], enabled: bool) -> Policy:
        """What the names of packages say, with the marks among them."""
        races = [name.removeprefix(RACES) for name in names if name.startswith(RACES)]
        return cls(
            [name for name in names if not name.startswith("@")],
            enabled,
            accesses=ACCESSES in names or bool(races),
            races=races[0] if races else "",
            has_points=ACCESSES in names,
            is_heuristic=ON_TRUST in names,
            is_kept=UNKEPT not in names,
            in_ranges=RANGES in names,
            is_shared=SHARED in names,
            is_cold=COLD_CODE in names,
        )

    def wants(self, name: str, path: str) -> bool:
        """Is the module *name*, whose file is *path*, to be instrumented?"""
        return self.is_asked_for(name, path) or (self.is_shared and _is_within(name, MODULES))

    def is_asked_for(self, name: str, path: str) -> bool:
        """And not only for the order of accesses: is it of interest to who runs the program?"""
        if not self.enabled or _is_within(name, _OURS):
            return False
        return _is_within(name, self.packages) or not is_library(path)


def marks_of(order: str) -> tuple[str, ...]:
    """What the parallel engine wants for an order that it keeps. Where there is a GIL, hints say
    which of two threads was first; elsewhere accesses do, as far as they cost little."""
    if order == "sync":
        return () if HAS_GIL else (ACCESSES, SHARED, COLD_CODE)
    return (ACCESSES, SHARED)


def _is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def is_library(path: str) -> bool:
    return path.startswith(_STANDARD_LIBRARY) or any(part in path for part in _INSTALLED)


def _ignore(name: str) -> None:
    """Nobody wants to know."""


def _say_skipped(path: str, reason: str) -> None:
    print(f"reenact: not instrumented: {path}: {reason}", file=sys.stderr)


class Instrumenter:
    """Makes of a source file the code to run, with the help of the cache."""

    def __init__(
        self,
        plant: Plant,
        note_source: Note,
        warm: Warm,
        note_skipped: Note = _say_skipped,
        accesses: bool = False,
        manner: str = ALL,
    ) -> None:
        self.plant = plant
        self.accesses = accesses
        self.manner = manner
        self.elsewhere: tuple[str, ...] = ()  # globals of the present file that others set
        self.note_source = note_source
        self.warm = warm
        self.note_skipped = note_skipped
        self.cache = Cache(default_root())

    def code(self, source: bytes, path: str) -> CodeType:
        """The code of the file *path*, planted and noted."""
        digest = digest_of(source)
        if self.accesses:
            self.elsewhere = _known.names_in(path, source)
            words = (str(ACCESSES_VERSION), self.manner, *self.elsewhere)
            key = key_for(digest, path, config=f"accesses {' '.join(words)}")
        else:
            key = key_for(digest, path, config="" if self.manner == ALL else self.manner)
        code = self._cached(source, path, key) or self._made(source, path)
        if self.accesses:
            _known.add(path, code, self.elsewhere)
        self.plant(code)
        self.note_source(path, digest)
        return code

    def _rewritten(self, source: bytes, path: str) -> CodeType | None:
        return rewrite(
            source, path, accesses=self.accesses, manner=self.manner, elsewhere=self.elsewhere
        )

    def _cached(self, source: bytes, path: str, key: str) -> CodeType | None:
        def fill() -> None:
            self._fill(source, path, key)

        if not self.cache.has(key):
            self.warm(fill)
        return self.cache.load(key)

    def _fill(self, source: bytes, path: str, key: str) -> None:
        try:
            code = self._rewritten(source, path)
        except Exception:  # the parent process meets the same error, and raises it
            return
        if code is not None:  # whether it is depends on the depth of the stack: ask each time
            self.cache.store(key, code)

    def _made(self, source: bytes, path: str) -> CodeType:
        code = self._rewritten(source, path)
        if code is None:
            self.note_skipped(path, "it is nested too deeply")
            code = compile(source, path, "exec", dont_inherit=True)
        return code


class InstrumentingLoader(SourceFileLoader):
    """Loads a module from a source file."""

    def __init__(self, name: str, path: str, instrumenter: Instrumenter) -> None:
        super().__init__(name, path)
        self.instrumenter = instrumenter

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.instrumenter.code(self.get_data(path), path)


class InstrumentingZipLoader(zipimporter):
    """Loads one module from a zip archive; the archive's others as Python does."""

    def __init__(self, base: zipimporter, name: str, path: str, instrumenter: Instrumenter) -> None:
        vars(self).update(vars(base))  # its constructor would read the archive again
        self.name = name
        self.path = path
        self.instrumenter = instrumenter

    def get_code(self, fullname: str) -> CodeType:
        if fullname != self.name:
            return super().get_code(fullname)
        return self.instrumenter.code(self.get_data(self.path), self.path)


_LOADERS = (InstrumentingLoader, InstrumentingZipLoader)


class Finder:
    """Finds what the finders behind it find, and has the program's own modules instrumented."""

    def __init__(
        self,
        policy: Policy,
        instrumenter: Instrumenter,
        note_module: Callable[[str], None] = _ignore,
    ) -> None:
        self.policy = policy
        self.instrumenter = instrumenter
        self.note_module = note_module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in self._behind():
            if not hasattr(finder, "find_spec"):
                return None  # of the kind before 3.4: let Python go on from here
            spec: ModuleSpec | None = finder.find_spec(fullname, path, target)
            if spec is not None:
                self.adapt(spec)
                return spec
        return None

    def _behind(self) -> list[Any]:
        finders = sys.meta_path
        return finders[finders.index(self) + 1 :] if self in finders else []

    def adapt(self, spec: ModuleSpec) -> None:
        """Change the loader of *spec*, if it has a file and the policy wants it."""
        if not spec.has_location or spec.origin is None or isinstance(spec.loader, _LOADERS):
            return
        if "." not in spec.name and any(part in spec.origin for part in _INSTALLED):
            self.note_module(f"{spec.name} {spec.origin}")
        if self.policy.wants(spec.name, spec.origin):
            if not self.policy.is_asked_for(spec.name, spec.origin):
                lent.add(spec.origin)
            self._instrument(spec, spec.origin)
        elif type(spec.loader) is SourceFileLoader:
            self._warm_bytecode(spec, spec.origin)

    def code_of(self, spec: ModuleSpec) -> CodeType:
        """The code of the module of *spec*, whose loader must have some."""
        self.adapt(spec)
        loader: Any = spec.loader
        code: CodeType = loader.get_code(spec.name)
        return code

    def _instrument(self, spec: ModuleSpec, origin: str) -> None:
        loader = spec.loader
        if _is_plain(loader):
            spec.loader = InstrumentingLoader(spec.name, origin, self.instrumenter)
        elif isinstance(loader, zipimporter) and _holds(loader, origin.removesuffix("c")):
            source = origin.removesuffix("c")  # Python takes a .pyc if the archive has both
            spec.loader = InstrumentingZipLoader(loader, spec.name, source, self.instrumenter)
        elif not isinstance(loader, ExtensionFileLoader):
            kind = type(loader).__name__
            self.instrumenter.note_skipped(origin, f"its loader, {kind}, makes its code")

    def _warm_bytecode(self, spec: ModuleSpec, origin: str) -> None:
        """See that loading an untouched module finds a .pyc, as it will the next time."""
        loader, cached = spec.loader, spec.cached
        assert isinstance(loader, SourceFileLoader)

        def fill() -> None:
            loader.get_code(spec.name)

        if cached is None or sys.dont_write_bytecode or not _is_writable(dirname(cached)):
            return
        # Missing, stale or fresh, `_is_fresh` is asked once, since it allocates.
        if not access(cached, R_OK):
            self.instrumenter.warm(fill)
        if access(cached, R_OK) and not _is_fresh(cached, origin):
            self.instrumenter.warm(fill)


def _is_plain(loader: object) -> bool:
    """Does *loader* compile as Python's own loader of source files does?"""
    kind = type(loader)
    return issubclass(kind, SourceFileLoader) and all(
        getattr(kind, name) is getattr(SourceFileLoader, name) for name in _COMPILING
    )


def _holds(loader: zipimporter, path: str) -> bool:
    try:
        loader.get_data(path)
    except OSError:
        return False
    return True


def _is_fresh(cached: str, origin: str) -> bool:
    """Will Python take the .pyc at *cached*? One that holds a hash is left for it to judge."""
    fd = open_fd(cached, O_RDONLY | O_CLOEXEC)
    try:
        header = read(fd, 16)
    finally:
        close(fd)
    if header[4:8] != bytes(4):
        return header[:4] == MAGIC_NUMBER
    return header == MAGIC_NUMBER + bytes(4) + _stamp(origin)


def _stamp(origin: str) -> bytes:
    found = stat(origin)
    parts = (int(found.st_mtime), found.st_size)
    return b"".join((part & 0xFFFFFFFF).to_bytes(4, "little") for part in parts)


def _is_writable(directory: str) -> bool:
    return access(directory, W_OK) or access(dirname(directory), W_OK)


_installed: Finder | None = None
_known = Known()


def note_loaded(path: str, code: CodeType) -> None:
    """Somebody else has made the code of a module, with sites."""
    _known.add(path, code, ())


def policy() -> Policy | None:
    """Of what is imported now; None if nothing is instrumented."""
    return None if _installed is None else _installed.policy


def unseen() -> list[str]:
    """What was set in modules after they had been loaded without sites for it."""
    return _known.unseen


def install(
    policy: Policy,
    plant: Plant,
    note_source: Note,
    warm: Warm,
    note_skipped: Note = _say_skipped,
    note_module: Callable[[str], None] = _ignore,
) -> None:
    """Instrument what is imported from now on.

    *plant* puts the tick into code in place; *note_source* is told path and SHA-256 of every file
    instrumented, *note_skipped* path and reason of every file that could not be, *note_module* the
    name of every installed package; *warm* calls a function in a child process and waits for its
    end.
    """
    global _installed
    uninstall()
    instrumenter = Instrumenter(
        plant, note_source, warm, note_skipped, policy.accesses, policy.manner
    )
    _installed = Finder(policy, instrumenter, note_module)
    sys.meta_path.insert(0, _installed)
    if policy.is_shared:
        lent.update(give_sites(instrumenter.code))


def uninstall() -> None:
    """Import as before. What is loaded stays as it is."""
    global _installed
    if _installed in sys.meta_path:
        sys.meta_path.remove(_installed)
    _installed = None


def missed(policy: Policy) -> list[str]:
    """The modules that *policy* wants but that were loaded before the hook was there."""
    return [name for name, module in list(sys.modules.items()) if _is_missed(policy, name, module)]


def _is_missed(policy: Policy, name: str, module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    if spec is None or not spec.has_location or not _is_plain(spec.loader):
        return False
    return policy.wants(name, spec.origin)


def code_for_script(
    path: str,
    policy: Policy,
    plant: Plant,
    note_source: Note,
    warm: Warm,
    note_skipped: Note = _say_skipped,
) -> CodeType:
    """The code of a source file that is to run as `__main__`."""
    loader = SourceFileLoader("__main__", path)
    source = loader.get_data(path)
    if policy.wants("__main__", path):
        instrumenter = Instrumenter(
            plant, note_source, warm, note_skipped, policy.accesses, policy.manner
        )
        return instrumenter.code(source, path)
    code: CodeType = loader.source_to_code(source, path)
    return code


def code_for_command(text: str, policy: Policy, plant: Plant, warm: Warm) -> CodeType:
    """The code that `python -c` was given: it has no file, and so nothing to note."""
    if not policy.enabled:
        return compile(text, COMMAND, "exec", dont_inherit=True)
    instrumenter = Instrumenter(
        plant,
        lambda path, digest: None,
        warm,
        accesses=policy.accesses,
        manner=policy.manner,
    )
    return instrumenter.code(text.encode("utf-8", "surrogateescape"), COMMAND)


def code_for_module(
    name: str,
    policy: Policy,
    plant: Plant,
    note_source: Note,
    warm: Warm,
    note_skipped: Note = _say_skipped,
) -> tuple[CodeType, ModuleSpec]:
    """Code and spec for `-m name`; those of its `__main__` if it is a package.

    The name `__main__` means the one in the directory or archive that is first in `sys.path`.
    Raises ImportError with the words of `python -m`.
    """
    spec, code = _details(name)
    if not isinstance(spec.loader, _LOADERS):  # no hook is installed, or it let the module be
        instrumenter = Instrumenter(
            plant, note_source, warm, note_skipped, policy.accesses, policy.manner
        )
        code = Finder(policy, instrumenter).code_of(spec)
    return code, spec


def _details(name: str) -> tuple[ModuleSpec, CodeType]:
    # Private, but pdb, trace and cProfile call them so in every version.
    import runpy

    if name == "__main__":
        _, spec, code = runpy._get_main_module_details()  # type: ignore[attr-defined]
    else:
        _, spec, code = runpy._get_module_details(name)  # type: ignore[attr-defined]
    return spec, code
