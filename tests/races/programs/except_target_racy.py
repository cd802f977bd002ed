"""`except` binds a global that another thread reads."""

from _shared import run

problem = None


def fail():
    global problem
    try:
        raise ValueError("wanted")
    except ValueError as problem:  # at: except
        pass


def read():
    try:
        return problem  # at: read
    except NameError:  # Python deletes the name where the handler ends
        return None


run(fail, read)
