"""What was found out about locks, as findings: with places, keys and advice.

`locks.py` says which orders may deadlock and which waits hold locks. This puts files as they are
shown, names of threads, and words to it. Nothing is found here that was not there.
"""

from __future__ import annotations

from reenact.analysis import locks
from reenact.analysis.findings import (
    NOWHERE,
    Finding,
    Held,
    HeldWaiting,
    Kind,
    Lock,
    LockOrder,
    Stack,
    Taking,
    Thread,
    Unreleased,
    key_of,
)
from reenact.analysis.raw import Reader
from reenact.analysis.sources import Sources
from reenact.findings import Line


class Locking:
    """Makes findings, of one run."""

    def __init__(self, reader: Reader, sources: Sources) -> None:
        self._reader = reader
        self._sources = sources

    def findings(self, found: locks.LockFindings) -> list[Finding]:
        return [
            *map(self._order, found.orders),
            *map(self._waiting, found.waiting),
            *map(self._unreleased, found.unreleased),
        ]

    def _order(self, order: locks.LockOrder) -> LockOrder:
        takings = tuple(self._taking(each) for each in order.steps)
        both = [
            place for each in takings for place in (each.held.lock.where, each.taken.lock.where)
        ]
        return LockOrder(
            key=self._key("lock-order", "", both), advice=_in_one_order(takings), takings=takings
        )

    def _taking(self, step: locks.OrderStep) -> Taking:
        thread = self._reader.thread(step.thread)
        return Taking(thread, self._held(step.held), self._held(step.wanted), step.count)

    def _waiting(self, waiting: locks.HeldWaiting) -> HeldWaiting:
        thread = self._reader.thread(waiting.thread)
        waker = None if waiting.waker is None else self._reader.thread(waiting.waker)
        held = tuple(map(self._held, waiting.held))
        place = self._place(waiting.stack) or NOWHERE
        return HeldWaiting(
            key=self._key("held-while-waiting", waiting.what, [place, *map(_where, held)]),
            advice=_without_locks(thread, waker, bool(waiting.needed)),
            thread=thread,
            what=waiting.what,
            place=place,
            stack=self._stack(waiting.stack),
            held=held,
            is_timed=waiting.is_timed,
            waker=waker,
            needed=tuple(each.id for each in waiting.needed),
        )

    def _unreleased(self, unreleased: locks.Unreleased) -> Unreleased:
        held = self._held(unreleased.held)
        return Unreleased(
            key=self._key("never-released", "", [_where(held)]),
            advice="Take it by `with`, so that it is released whatever happens.",
            thread=self._reader.thread(unreleased.thread),
            held=held,
            count=unreleased.count,
        )

    def _held(self, held: locks.Held) -> Held:
        where = self._place(held.stack)
        return Held(Lock(held.lock.id, held.lock.kind, where), self._stack(held.stack))

    def _stack(self, stack: locks.Stack) -> Stack:
        return tuple(map(self._shown, stack))

    def _place(self, stack: locks.Stack) -> Line | None:
        place = locks.place(stack)
        return None if place is None else self._shown(place)

    def _shown(self, line: Line) -> Line:
        return self._reader.line([line.file, line.line, line.function])

    def _key(self, kind: Kind, name: str, places: list[Line | None]) -> str:
        known = [place for place in places if place is not None]
        texts = [self._sources.line(each.file, each.line).strip() for each in known]
        return key_of(kind, name, zip(known, texts, strict=True))


def _where(held: Held) -> Line | None:
    return held.lock.where


# ---- advice ----


def _in_one_order(takings: tuple[Taking, ...]) -> str:
    places = " and ".join(
        f"{place.file}:{place.line}" for each in takings if (place := each.taken.lock.where)
    )
    at = f" ({places})" if places else ""
    return f"Take these locks in the same order everywhere{at}, or hold one more lock around both."


def _without_locks(thread: Thread, waker: Thread | None, is_needed: bool) -> str:
    if is_needed and waker is not None:
        return (
            f"{_begun(waker)}, which ends the wait, takes such a lock as well: if it comes to that "
            f"first, both wait for ever. {_begun(thread)} should release it before it waits."
        )
    return "Release it before waiting: whoever wants it has to wait as long."


def _begun(thread: Thread) -> str:
    text = str(thread)
    return text[:1].upper() + text[1:]
