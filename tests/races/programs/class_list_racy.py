"""The list of a class is every instance's: two that seem apart share it."""

from _shared import run


class Basket:
    items = []

    def fill(self):
        self.items.append(1)  # at: append

    def count(self):
        return len(self.items)  # at: len


run(Basket().fill, Basket().count)
