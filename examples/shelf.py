"""A baker with ten loaves and two clerks who sell at once: now and then a sale is lost."""

import threading


class Shelf:
    def __init__(self, loaves):
        self.loaves = loaves

    def sell(self, count):
        before = self.loaves
        check(before, count)
        self.loaves = before - count


def check(loaves, count):
    if count > loaves:
        raise ValueError("not enough bread")


def main():
    shelf = Shelf(10)
    clerks = [threading.Thread(target=shelf.sell, args=(count,)) for count in (2, 3)]
    for clerk in clerks:
        clerk.start()
    for clerk in clerks:
        clerk.join()
    print(shelf.loaves, "loaves left")
    assert shelf.loaves == 10 - 2 - 3, "a sale was lost"


main()
