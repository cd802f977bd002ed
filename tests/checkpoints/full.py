"""The long tests of copies and of travelling, with this Python: some hours.

python -m tests.checkpoints.full [OPTIONS OF PYTEST]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    os.environ["REENACT_FULL"] = os.environ["REENACT_ALL_TESTS"] = "1"
    folder = str(Path(__file__).resolve().parent)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", folder, *sys.argv[1:]])


if __name__ == "__main__":
    main()
