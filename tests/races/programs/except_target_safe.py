"""`except` binds a local of the same name in two threads."""

from _shared import run


def fail():
    try:
        raise ValueError("wanted")
    except ValueError as problem:
        problem.add_note("as it should be")
        return problem.args


run(fail, fail)
