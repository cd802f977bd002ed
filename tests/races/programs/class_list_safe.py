"""Each instance has a list of its own."""

from _shared import run


class Basket:
    def __init__(self):
        self.items = []

    def fill(self):
        self.items.append(1)

    def count(self):
        return len(self.items)


run(Basket().fill, Basket().count)
