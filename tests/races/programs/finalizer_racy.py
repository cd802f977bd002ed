"""Objects count themselves as they go, in whichever thread that happens."""

from _shared import Box, run

gone = Box()


class Resource:
    def __del__(self):
        gone.value += 1  # at: count


def work():
    resource = Resource()
    del resource


run(work, work)
