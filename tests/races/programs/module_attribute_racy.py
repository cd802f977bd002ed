"""A module's variable is set as an attribute from outside, and read as a global from inside."""

from _shared import run

import __main__

verbose = False


def configure():
    __main__.verbose = True  # at: attribute


def is_verbose():
    return verbose  # at: global


run(configure, is_verbose)
