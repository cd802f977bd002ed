"""A module's variable is set as an attribute from outside, before those who read it start."""

from _shared import run

import __main__

verbose = False


def configure():
    __main__.verbose = True


def is_verbose():
    return verbose


run(configure)
run(is_verbose, is_verbose)
