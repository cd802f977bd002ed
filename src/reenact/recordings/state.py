"""The state member: the scheduler's own memory, as the program left it.

Read lazily by `streams.py`. Of a run that was killed it tells where each thread was and at
which step. Slots are decoded one by one when asked for, since a file may claim many. Fields of
a slot that are not part of the format are passed over by means of the slot size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import RecordingError
from reenact.recordings import format
from reenact.recordings.members import check_version

ENDS = ("running", "closed", "deadlock", "diverged")
STATUSES = ("free", "ready", "running", "waiting", "outside", "ended")
LIMIT = 1 << 28


@dataclass(frozen=True, slots=True)
class Slot:
    """One thread's part of the state."""

    budget: int
    index: int
    parent: int
    ordinal: int
    status: str
    pending_site: int
    pending_object: int


@dataclass(frozen=True, slots=True)
class State:
    """The scheduler as a whole. `moved_object` is the number of the first object that a replay
    met at another address than recorded, 0 if none."""

    slot_size: int
    step_end: int
    holder: int
    threads: int
    ended: str
    log_errno: int
    switches: int
    operations: int
    collections: int
    moved_object: int
    step: int
    _slots: bytes

    def slots(self) -> Iterator[Slot]:
        """The slots that are there; fewer than `threads` if the log had to stop."""
        count = min(self.threads, len(self._slots) // self.slot_size)
        for at in range(0, count * self.slot_size, self.slot_size):
            yield _slot(self._slots, at)

    def positions(self) -> dict[int, int]:
        """Of the parallel engine: how many points each thread had passed."""
        if self.slot_size < format.SLOT.size + format.LIMIT.size:
            return {}
        limits = range(format.SLOT.size, len(self._slots), self.slot_size)
        slots = zip(self.slots(), limits, strict=False)
        return {
            slot.index: format.LIMIT.unpack_from(self._slots, at)[0] - slot.budget
            for slot, at in slots
        }

    @property
    def is_whole(self) -> bool:
        """Whether the program closed its log, so that no entry may be cut off."""
        return self.ended != "running" and self.log_errno == 0


def _slot(slots: bytes, at: int) -> Slot:
    budget, index, parent, ordinal, status, site, number = format.SLOT.unpack_from(slots, at)
    name = STATUSES[status] if 0 <= status < len(STATUSES) else f"status {status}"
    return Slot(budget, index, parent, ordinal, name, site, number)


def parse_state(data: bytes, path: Path) -> State | None:
    """None if the program never came to write its state."""
    if not any(data[: format.STATE_HEADER.size]):
        return None
    if len(data) < format.STATE_HEADER.size:
        raise RecordingError(path, "truncated", "state ends inside its header")
    magic, version, slot_size, *fields = format.STATE_HEADER.unpack_from(data)
    step_end, holder, threads, ended, log_errno, *counts = fields
    switches, operations, collections, moved_object = counts
    if magic != format.STREAM_MAGIC:
        raise RecordingError(path, "foreign", "state is not that of a recording")
    check_version(path, version)
    if slot_size < format.SLOT.size:
        raise RecordingError(path, "damaged", f"state has slots of {slot_size} bytes")
    slots = data[format.STATE_SLOTS :]
    budget = _budget(slots, slot_size, holder)
    if budget is None and not log_errno:
        raise RecordingError(path, "damaged", f"state has no slot for thread {holder}")
    step = step_end - (budget or 0)
    if not 0 <= step < 1 << 63:
        raise RecordingError(path, "damaged", f"state is at step {step}")
    return State(
        slot_size,
        step_end,
        holder,
        threads,
        ENDS[ended] if ended < len(ENDS) else f"ended {ended}",
        log_errno,
        switches,
        operations,
        collections,
        moved_object,
        step,
        slots,
    )


def _budget(slots: bytes, slot_size: int, holder: int) -> int | None:
    """What the holder of the baton had left; slot n belongs to thread n.

    None if the slot is not there: once the log has stopped (errno set), new slots live in the
    program's memory alone."""
    at = holder * slot_size
    if holder < 0:
        return 0
    if at + format.SLOT.size > len(slots):
        return None
    budget: int = format.SLOT.unpack_from(slots, at)[0]
    return budget
