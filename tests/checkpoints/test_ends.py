"""However a recorded program ended, one can travel to its end, and back from there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reenact.debug.traveller import BEGINNING, Move

from .harness import QUEUE, Pool, own, travelling

# How it ends, what the traveller says, and the line of the program that it is at.
ENDS = {
    "daemon": ("end", ""),
    "import": ("failure", "import no_such_module"),
    "own trace": ("end", ""),
    "many": ("end", ""),
    "exit": ("end", "os._exit(3)"),
    "kill": ("end", "os.kill(os.getpid(), signal.SIGKILL)"),
    "fault": ("end", "ctypes.string_at(0)"),
    "deadlock": ("deadlock", "with lock, lock:"),
}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


def end_of(how: str) -> tuple[str, str, str]:
    """What is said of the end, where it is, and what was wrong on the way back and forth."""
    program = own("ends", how)
    with travelling(program, QUEUE) as traveller:
        opened = traveller.open()
        lines = [each.line for each in opened.stack if each.file == str(program.path)]
        complaint = ""
        end = traveller.go_to_end()
        back = traveller.backward(Move(thread=end.thread))
        if not BEGINNING < back.place < end.place:
            complaint = f"back from {end.place} to {back.place}"
        again = traveller.forward()
        if (again.place, again.why, again.stack) != (end.place, end.why, end.stack):
            complaint = f"the end is {end}, then {again}"
        traveller.backward()
        if traveller.stop.place != BEGINNING:
            complaint = f"without breakpoints back is the beginning, not {traveller.stop}"
        text = program.path.read_text("utf-8").splitlines()
        line = text[lines[-1] - 1].partition("#")[0].strip() if lines else ""
        return opened.why, line, complaint


@pytest.mark.timeout(0)
@pytest.mark.parametrize("how", ENDS)
def test_an_end_can_be_travelled_to_and_from(how: str, pool: Pool) -> None:
    why, line, complaint = pool.submit(end_of, how).result()
    assert (why, line) == ENDS[how]
    assert not complaint
