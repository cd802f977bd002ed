"""Small programs with known bugs, and a way to try things on them in a process of their own.

A search patches the interpreter for good, which the other tests need not know of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LOST_UPDATE = '''\
"""Two threads add to a balance without a lock."""
import threading


class Account:
    def __init__(self):
        self.balance = 100

    def add(self, amount):
        seen = self.balance
        self.balance = seen + amount


def main():
    account = Account()
    threads = [threading.Thread(target=account.add, args=(n,)) for n in (10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == 130
'''

FIXED = LOST_UPDATE.replace(
    """\
        self.balance = 100
""",
    """\
        self.balance = 100
        self.lock = threading.Lock()
""",
).replace(
    """\
        seen = self.balance
        self.balance = seen + amount
""",
    """\
        with self.lock:
            seen = self.balance
            self.balance = seen + amount
""",
)

LOCK_ORDER = '''\
"""Two threads take two locks in opposite order."""
import threading


def take(first, second):
    with first:
        with second:
            pass


def main():
    left, right = threading.Lock(), threading.Lock()
    threads = [
        threading.Thread(target=take, args=(left, right)),
        threading.Thread(target=take, args=(right, left)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
'''

LOST_WAKE_UP = '''\
"""A notification that comes before the wait is lost."""
import threading


class Box:
    def __init__(self):
        self.ready = False
        self.changed = threading.Condition()

    def fill(self):
        self.ready = True
        with self.changed:
            self.changed.notify()

    def empty(self):
        if not self.ready:
            with self.changed:
                self.changed.wait()


def main():
    box = Box()
    threads = [threading.Thread(target=box.empty), threading.Thread(target=box.fill)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
'''

_PRELUDE = """\
import json, sys
import reenact
from reenact.explore.function import Function
from reenact.explore.runs import Settings
from reenact.explore.search import Limits, Search
from reenact.strategies.searching import PREEMPTS, Plan, Switch
import prog


def say(**words):
    print("SAID " + json.dumps(words))


def find(function=prog.main, strategy="random", seed=1):
    found = Search(runner, strategy, seed, Limits(500)).go()
    assert found.failure is not None, found.reasons
    return found


"""


def tried(directory: Path, program: str, script: str) -> dict[str, Any]:
    """What `script` says with `say`, next to `program` as the module `prog`."""
    (directory / "prog.py").write_text(program)
    (directory / "script.py").write_text(_PRELUDE + script)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        if line.startswith("SAID "):
            said |= json.loads(line.removeprefix("SAID "))
    return said


def run_pytest(directory: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # loading them takes longest
    )
    return done.stdout + done.stderr
