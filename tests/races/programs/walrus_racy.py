"""`:=` binds a global that another thread reads."""

from _shared import run

latest = 0


def compute():
    global latest
    return (latest := 6 * 7) > 40  # at: walrus


def read():
    return latest  # at: read


run(compute, read)
