"""Conway's Game of Life, rows shared among threads, with the barrier left out on purpose.

Varies: the board, since neighbours read each other's half-made generations.
"""

import random
import threading

SIZE = 12
choose = random.Random(11)
board = [[choose.randrange(2) for _ in range(SIZE)] for _ in range(SIZE)]


def neighbours(row, column):
    return sum(
        board[(row + dr) % SIZE][(column + dc) % SIZE]
        for dr in (-1, 0, 1)
        for dc in (-1, 0, 1)
        if dr or dc
    )


def step(row):
    fresh = []
    for column in range(SIZE):
        count = neighbours(row, column)
        fresh.append(int(count == 3 or (count == 2 and board[row][column])))
    board[row] = fresh


def work(rows):
    for _ in range(6):
        for row in rows:
            step(row)


threads = [threading.Thread(target=work, args=(range(n, SIZE, 3),)) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for row in board:
    print("".join(" #"[cell] for cell in row) + "|")
