"""Shared memory: heat that spreads over a plate; two grids in turn, a barrier after each step."""

from team import at_least, start

SIZE = 120
STEPS = 240


class Plate:
    """Two grids: the one is read while the other is written."""

    def __init__(self) -> None:
        self.grids = [[[0.0] * SIZE for _ in range(SIZE)] for _ in range(2)]
        for grid in self.grids:
            for column in range(SIZE):
                grid[0][column] = 100.0
                grid[SIZE - 1][column] = 25.0


def spread(old: list[list[float]], new: list[list[float]], i: int) -> None:
    """One row of the next step."""
    above, here, below, row = old[i - 1], old[i], old[i + 1], new[i]
    for j in range(1, SIZE - 1):
        row[j] = (above[j] + below[j] + here[j - 1] + here[j + 1]) * 0.25


def main() -> None:
    """Let it spread."""
    team, scale = start()
    steps = at_least(2, STEPS * scale)
    plate = Plate()

    def work(number: int) -> None:
        rows = team.share(number, SIZE - 2)
        for step in range(steps):
            old, new = plate.grids[step % 2], plate.grids[(step + 1) % 2]
            for i in rows:
                spread(old, new, i + 1)
            team.barrier.wait()

    team.run(work)
    team.finish(plate.grids[steps % 2])


main()
