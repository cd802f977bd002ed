"""Two threads add to a variable of the function that made them."""

from _shared import run


def main():
    count = 0

    def add():
        nonlocal count
        count += 1  # at: add

    run(add, add)


main()
