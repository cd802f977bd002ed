"""Processes that search at once, and what becomes of those that are stopped."""

from __future__ import annotations

import os
import select

from reenact.explore.workers import Workers


def speaker(workers: Workers) -> None:
    """A process that says a line, and waits to be ended."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(theirs, b'{"found": 1}\n')
        select.select([], [], [], 60)
        os._exit(0)
    os.close(theirs)
    workers.add(pid, ours)


def test_those_that_are_stopped_are_not_listened_to() -> None:
    with Workers() as workers:
        speaker(workers)
        speaker(workers)
        for worker in workers.alive:  # both have spoken before anybody listens
            assert select.select([worker.descriptor], [], [], 60)[0]
        said = []
        for each in workers.listen(1.0):
            said.append(each)
            workers.stop()
    assert len(said) == 1
