"""Attributes that nobody sets are not looked at; those that somebody may set are, in time."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.races.judged import reported

START = """
import threading
from reenact import _core

class Base:
    def __init__(self, size):
        self.size = size

    def act(self):
        return self.size

class Thing(Base):
    pass

def both(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

def asleep():
    return _core.sites_asleep()[0]

thing = Thing(1)

def use():
    for _ in range(20):
        thing.act()
"""

# What two threads do, and the attributes that race. Each has somebody who sets one after others
# have read it, in a way by which it must be known before that it may happen.
SET = {
    "an attribute": ("thing.size = 2", {"size"}),
    "augmented": ("thing.size += 2", {"size"}),
    "deleted": ("del thing.size", {"size"}),
    "by its name": ("setattr(thing, 'size', 2)", {"size"}),
    "by a name that is made up": ("setattr(thing, 'si' + 'ze', 2)", {"size"}),
    "past the class": ("object.__setattr__(thing, 'size', 2)", {"size"}),
    "a method of the object": ("thing.act = print", {"act"}),
    "a method of the class": ("Base.act = print", {"act"}),
    "by a loop": ("[None for thing.size in [2]]", {"size"}),
    "by a constructor that is called again": ("thing.__init__(2)", {"size"}),
    "by one of a base": ("Base.__init__(thing, 2)", {"size"}),
}


def judged(folder: Path, program: str, seed: int = 0) -> tuple[dict[str, Any], set[str]]:
    path = folder / "program.py"
    path.write_text(START + textwrap.dedent(program))
    found, _ = reported(path, "--strategy", "random", "--seed", str(seed), "--slice", "20")
    assert found["exit_code"] == 0
    races = [each["variable"] for each in found["findings"] if each["kind"] == "race"]
    return found, {each["name"] for each in races}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("setting, racing", SET.values(), ids=SET)
def test_what_may_be_set_is_looked_at(
    setting: str, racing: set[str], seed: int, tmp_path: Path
) -> None:
    program = f"""
    def change():
        try:
            {setting}
        except AttributeError:
            pass
    both(use, change)
    """
    found, names = judged(tmp_path, program, seed)
    assert (found["reasons"], names) == ([], racing)


def test_sites_of_what_nobody_sets_sleep(tmp_path: Path) -> None:
    program = """
    def look():
        use()
        assert asleep() == 2, asleep()
    both(look, use)
    """
    found, names = judged(tmp_path, program)
    assert (found["verdict"], names) == ("none", set())


def test_a_name_that_is_made_up_may_be_any(tmp_path: Path) -> None:
    program = """
    def never(name):
        setattr(thing, name, 1)
    def look():
        use()
        assert asleep() == 0, asleep()
    both(look, use)
    """
    found, names = judged(tmp_path, program)
    assert (found["verdict"], names) == ("none", set())


LATER = """
    def begin():
        global later
        use()
        {}
    def read():
        use()
        assert asleep() == {}, asleep()
    def write():
        later.change(thing)
    both(begin, lambda: None)
    both(read, write)
"""


def test_they_wake_when_code_is_loaded_that_sets_it(tmp_path: Path) -> None:
    """It is said that what was read before is not known; what is read from then on is."""
    (tmp_path / "later.py").write_text("def change(thing):\n    thing.size = 2\n")
    found, names = judged(tmp_path, LATER.format("import later", 1))
    assert names == {"size"}
    (reason,) = found["reasons"]
    assert "attribute size is set by code that was loaded" in reason


def test_they_wake_for_what_is_set_in_vain(tmp_path: Path) -> None:
    """An object that only one thread has raced with nobody."""
    source = "class Own:\n    pass\n\n\ndef change(thing):\n    own = Own()\n    own.size = 2\n"
    (tmp_path / "later.py").write_text(source)
    found, names = judged(tmp_path, LATER.format("import later", 1))
    assert (found["verdict"], names, found["reasons"]) == ("none", set(), [])


def test_a_base_is_made_again_unseen(tmp_path: Path) -> None:
    """No site tells beforehand that `super().__init__` is called once more."""
    program = """
    class Again(Thing):
        def reset(self):
            super().__init__(3)
    other = Again(1)
    done = threading.Event()
    def read():
        for _ in range(20):
            other.act()
        done.set()
    def change():
        while not done.is_set():
            pass
        other.reset()
    both(read, change)
    """
    found, _ = judged(tmp_path, program)
    assert "attribute size is set" in found["reasons"][0]
