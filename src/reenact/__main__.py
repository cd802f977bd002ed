"""`python -m reenact` is the same as `reenact`."""

from reenact.cli.main import main

raise SystemExit(main())
