"""A finalizer that is called by hand while another thread has the object comes after nothing."""

from _shared import run


class Resource:
    def __init__(self):
        self.state = "new"

    def __del__(self):
        self.state = "closed"  # at: close


resource = Resource()


def use():
    resource.state = "used"  # at: use


def close():
    resource.__del__()


run(use, close)
