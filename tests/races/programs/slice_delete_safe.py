"""Each thread deletes a slice of its row."""

from _shared import run

rows = [[0, 1, 2], [3, 4, 5]]


def deleter(index):
    def delete():
        row = rows[index]
        del row[:2]

    return delete


run(deleter(0), deleter(1))
