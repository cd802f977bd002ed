"""Record with `light`, without one of the paper's optimisations or both: for its figure 7.

python benchmarks/light_without.py O1,O2 RECORDING PROGRAM ARGS...
"""

from __future__ import annotations

import os
import sys

RECORD = ("-m", "reenact", "record", "--engine", "parallel", "--order", "light", "-o")


def main() -> None:
    """Become the recorder; the core reads the variable (`_core/flow.c`)."""
    os.environ["REENACT_LIGHT_WITHOUT"] = sys.argv[1]
    os.execv(sys.executable, [sys.executable, *RECORD, *sys.argv[2:]])


if __name__ == "__main__":
    main()
