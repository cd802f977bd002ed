"""How two accesses that race could have been ordered, in a sentence or two.

It goes by what the run shows: the locks that each held, whether one thread had ended, which of the
two is the main thread. Which lock is the right one nobody knows but the author; so the one that is
held already comes first.
"""

from __future__ import annotations

from reenact.analysis.findings import Access, Lock, Variable
from reenact.findings import Line

_QUEUED = ("put", "take", "update")


def advise(variable: Variable, first: Access, second: Access) -> str:
    if first.locks and second.locks:
        return _different(first, second)
    if first.locks or second.locks:
        with_lock, without = (first, second) if first.locks else (second, first)
        return (
            f"Hold {_lock(with_lock.locks[-1])} at {_at(without.place)} too, where no lock is held."
        )
    if first.has_ended:
        return (
            f"{_name(first)} had ended when {second.thread} came to {_at(second.place)}, but that "
            f"is by chance: join {first.thread} before, or wait for it in another way."
        )
    return _without_locks(variable, first, second)


def _different(first: Access, second: Access) -> str:
    return (
        f"Both hold a lock, but not the same one: {_at(first.place)} {_lock(first.locks[-1])}, "
        f"{_at(second.place)} {_lock(second.locks[-1])}. Hold one of them in both places."
    )


def _without_locks(variable: Variable, first: Access, second: Access) -> str:
    where = _at(first.place)
    if second.place != first.place:
        where += f" and {_at(second.place)}"
    over = " over the whole statement" if first.pair or second.pair else ""
    texts = [f"Hold one lock{over} at {where}, and wherever else it is touched."]
    if second.thread.number == 0:
        texts.append(f"Or join {first.thread} before {_at(second.place)}.")
    elif first.thread.number == 0:
        texts.append(f"Or do what is done at {_at(first.place)} before {second.thread} is started.")
    elif variable.kind in ("item", "contents") and {first.mode, second.mode} & set(_QUEUED):
        texts.append("Or hand things over through a queue.Queue.")
    return " ".join(texts)


def _lock(lock: Lock) -> str:
    kind = "RLock" if lock.kind == "rlock" else "lock"
    if lock.where is None:
        return f"the {kind} number {lock.number}"
    return f"the {kind} taken at {_at(lock.where)}"


def _name(access: Access) -> str:
    text = str(access.thread)
    return text[:1].upper() + text[1:]


def _at(place: Line) -> str:
    return f"{place.file}:{place.line}"
