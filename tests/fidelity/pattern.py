"""Runs a program of `tests/detection/programs` again and again, and prints what each run came to.

    python tests/fidelity/pattern.py ibm_account buggy

As a program for the recorder: `harness.py` has it for each of the IBM patterns.
"""

import sys
from importlib import import_module
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "detection" / "programs"
ROUNDS = 5


def main() -> None:
    name, variant = sys.argv[1:]
    sys.path.insert(0, str(PROGRAMS))
    run = getattr(import_module(name), variant)
    for number in range(ROUNDS):
        try:
            print(number, "returned", run())
        except Exception as error:
            print(number, type(error).__name__, error)


main()
