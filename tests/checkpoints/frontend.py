"""A front-end that is killed: opens a recording, says which processes it has, and is busy then.

python -m tests.checkpoints.frontend RECORDING idle|asking
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from reenact.debug.traveller import Traveller
from reenact.recordings.reader import Recording

from ..children import children_of


def main() -> None:
    path, how = Path(sys.argv[1]), sys.argv[2]
    with Traveller(Recording.open(path)) as traveller:
        traveller.go_to_end()
        for step in (10, 100, 50):
            traveller.go_to(step)
        if how == "asking":
            steps = iter(range(traveller.recording.last_step // 2, traveller.recording.last_step))
            traveller.go_to(next(steps))
            while traveller.stop.frame is None:  # a thread that has not begun
                traveller.go_to(next(steps))
            thread = traveller.stop.thread
            threading.Timer(0.5, tell).start()
            traveller.ask("evaluate", text="sum(0 for _ in iter(int, 1))", thread=thread)
        tell()
        signal.pause()


def tell() -> None:
    mine = children_of(os.getpid())
    print(*mine, *(each for one in mine for each in children_of(one)), flush=True)


if __name__ == "__main__":
    main()
