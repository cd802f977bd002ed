"""Lists and dicts are spread into calls and into new ones by two threads."""

from _shared import run

numbers = [1, 2]
options = {"key": abs}


def call():
    own = [*numbers, 3]
    own.append(4)
    return max(*numbers, **options) + len(own) + len({**options})


run(call, call)
