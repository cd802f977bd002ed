"""Several processes that search at once, and what they say, one JSON object a line.

Owns starting, listening and stopping. What a worker does is its starter's business: `command.py`
starts new processes, `api` forks this one.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Worker:
    number: int
    pid: int
    descriptor: int
    rest: bytes = b""
    latest: dict[str, Any] = field(default_factory=dict)  # its last words of each kind


class Workers:
    """A context: whatever happens, no worker outlives it."""

    def __init__(self) -> None:
        self.alive: list[Worker] = []
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *unused: object) -> None:
        self.stop()
        self._selector.close()

    def add(self, pid: int, descriptor: int) -> Worker:
        worker = Worker(len(self.alive), pid, descriptor)
        self.alive.append(worker)
        self._selector.register(descriptor, selectors.EVENT_READ, worker)
        return worker

    def listen(self, period_s: float) -> Iterator[tuple[Worker, dict[str, Any]] | None]:
        """What the workers say, until none is left; None if nothing was said for a while."""
        while self.alive:
            events = self._selector.select(period_s)
            if not events:
                yield None
            for key, _ in events:
                worker: Worker = key.data
                if worker not in self.alive:  # it was stopped for what another has just said
                    continue
                data = os.read(worker.descriptor, 1 << 16)
                if not data:
                    self._bury(worker)
                    yield worker, {"ended": True}
                    continue
                *lines, worker.rest = (worker.rest + data).split(b"\n")
                for line in lines:
                    words = json.loads(line)
                    worker.latest.update(words)
                    yield worker, words

    def stop(self, but: Worker | None = None) -> None:
        for worker in [each for each in self.alive if each is not but]:
            os.kill(worker.pid, signal.SIGKILL)
            self._bury(worker)

    def _bury(self, worker: Worker) -> None:
        self._selector.unregister(worker.descriptor)
        os.close(worker.descriptor)
        os.waitpid(worker.pid, 0)
        self.alive.remove(worker)
