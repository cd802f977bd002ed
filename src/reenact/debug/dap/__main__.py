"""`python -m reenact.debug.dap [RECORDING]`: an adapter on standard input and output."""

from __future__ import annotations

import sys

from reenact.debug.dap.server import serve_here

sys.exit(serve_here(sys.argv[1] if len(sys.argv) > 1 else None))
