"""`--sample R` finds the share R of races, object by object; another seed, another share."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

OBJECTS = 400
PROGRAM = f"""\
import threading

class Box:
    def __init__(self):
        self.value = 0

boxes = [Box() for _ in range({OBJECTS})]

def work(number):
    for box in boxes:
        box.value = number

threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def found(path: Path, sample: str, seed: int) -> int:
    options = ("--sample", sample, "--strategy", "random", "--seed", str(seed), "--json")
    done = subprocess.run(
        [sys.executable, "-m", "reenact", "races", *options, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return sum(int(each["count"]) for each in json.loads(done.stdout)["findings"])


def test_the_share_of_objects_is_the_share_of_races(tmp_path: Path) -> None:
    path = tmp_path / "boxes.py"
    path.write_text(PROGRAM)
    assert found(path, "1", 1) == OBJECTS
    some = [found(path, "0.5", seed) for seed in (1, 2)]
    few = [found(path, "0.1", seed) for seed in (1, 2)]
    assert all(150 < each < 250 for each in some), some  # 200, with a deviation of 10
    assert all(10 < each < 70 for each in few), few  # 40, with a deviation of 6
