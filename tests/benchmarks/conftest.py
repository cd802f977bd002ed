"""The modules of benchmarks/ as the scripts there see them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "benchmarks"))
