"""A module is imported by two threads: whoever has imported it has all that its body did."""

from _shared import run


def use():
    import _imported

    assert _imported.table["two"] == 2
    assert _imported.uses == 0


run(use, use)
