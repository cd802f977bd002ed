"""setattr and getattr of two attributes, whose names are made while the program runs."""

from _shared import Box, run

box = Box()
for number in range(2):
    setattr(box, f"value{number}", 0)


def user_of(name):
    def use():
        setattr(box, name, getattr(box, name) + 1)

    return use


run(user_of("value0"), user_of("value1"))
