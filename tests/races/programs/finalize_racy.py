"""weakref.finalize calls what another thread is not ordered with."""

import weakref

from _shared import Box, run

log = Box()


def note():
    log.value = 1  # at: note


def drop():
    box = Box()
    weakref.finalize(box, note)
    del box


def look():
    return log.value  # at: read


run(drop, look)
