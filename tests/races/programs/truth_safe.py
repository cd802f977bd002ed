"""Whether there is anything is kept in an Event as well; that is what is asked."""

import threading

from _shared import run

jobs = []
has_jobs = threading.Event()


def is_idle():
    return not has_jobs.is_set()


def append():
    jobs.append(1)
    has_jobs.set()


run(is_idle, append)
