"""A fluid: particles in cells of a grid, pressed apart by their neighbours, in phases.

After fluidanimate of PARSEC: each thread has some rows of cells; what it adds to cells at the
border of its rows it adds under the cell's lock; a barrier ends each phase. In two dimensions.
Sums are kept in fixed point, so that it does not matter in which order threads add to them.
"""

import threading
from math import sqrt
from random import Random

from team import Team, at_least, start

COLUMNS = 16
ROWS = 24
PARTICLES_EACH = 3
FRAMES = 12
REACH = 1.0
UNIT = float(1 << 24)
DT = 0.02
AHEAD = ((0, 1), (1, -1), (1, 0), (1, 1))


class Particle:
    """A drop; `density`, `push_x` and `push_y` are in fixed point."""

    __slots__ = ("density", "push_x", "push_y", "speed_x", "speed_y", "x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y
        self.speed_x = self.speed_y = 0.0
        self.density = self.push_x = self.push_y = 0


class Cell:
    """A square of the grid, the particles in it, and those that come to it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.particles: list[Particle] = []
        self.coming: list[Particle] = []


class Grid:
    """All cells; `is_border` tells of which rows other threads have a neighbour."""

    def __init__(self, team: Team) -> None:
        self.cells = [[Cell() for _ in range(COLUMNS)] for _ in range(ROWS)]
        self.is_border = [False] * ROWS
        for number in range(team.size):
            rows = team.share(number, ROWS)
            for row in (*rows[:1], *rows[-1:]):
                self.is_border[row] = True

    def fill(self, row: int) -> None:
        """Put drops into the left half of a row. Done by the row's thread: they are its own."""
        random = Random(row)
        for column in range(COLUMNS // 2):
            cell = self.cells[row][column]
            for _ in range(PARTICLES_EACH * 2):
                cell.particles.append(Particle(column + random.random(), row + random.random()))

    def pairs(self, row: int) -> list[tuple[int, Cell, int, Cell]]:
        """Each cell of the row with itself and its neighbours that no other row goes over."""
        found = []
        for column, cell in enumerate(self.cells[row]):
            found.append((row, cell, row, cell))
            for down, right in AHEAD:
                if row + down < ROWS and 0 <= column + right < COLUMNS:
                    found.append((row, cell, row + down, self.cells[row + down][column + right]))
        return found

    def add(self, row: int, cell: Cell, sums: dict[int, list[int]], is_push: bool) -> None:
        """Add to the particles of a cell; under its lock if another thread might."""
        if self.is_border[row]:
            with cell.lock:
                add(cell.particles, sums, is_push)
        else:
            add(cell.particles, sums, is_push)


def add(particles: list[Particle], sums: dict[int, list[int]], is_push: bool) -> None:
    """What was gathered, to the particles that it is for."""
    for index, (first, second) in sums.items():
        particle = particles[index]
        if is_push:
            particle.push_x += first
            particle.push_y += second
        else:
            particle.density += first


def meet(grid: Grid, row: int, is_push: bool) -> None:
    """What the particles of a row and their neighbours do to one another."""
    for cell_row, cell, other_row, other in grid.pairs(row):
        here: dict[int, list[int]] = {}
        there = here if other is cell else {}
        for i, one in enumerate(cell.particles):
            x, y = one.x, one.y
            for j, two in enumerate(other.particles[i + 1 :] if other is cell else other.particles):
                dx, dy = x - two.x, y - two.y
                squared = dx * dx + dy * dy
                if squared >= REACH or squared == 0.0:
                    continue
                if is_push:
                    distance = sqrt(squared)
                    push = (one.density + two.density) / UNIT * (1.0 - distance) / distance
                    first, second = int(push * dx * UNIT), int(push * dy * UNIT)
                else:
                    first, second = int((REACH - squared) ** 3 * UNIT), 0
                index = j + i + 1 if other is cell else j
                gather(here, i, first, second)
                gather(there, index, *((-first, -second) if is_push else (first, second)))
        if here:
            grid.add(cell_row, cell, here, is_push)
        if there and there is not here:
            grid.add(other_row, other, there, is_push)


def gather(sums: dict[int, list[int]], index: int, first: int, second: int) -> None:
    """Add to what a particle of a cell is to get."""
    got = sums.get(index)
    if got is None:
        sums[index] = [first, second]
    else:
        got[0] += first
        got[1] += second


def advance(grid: Grid, row: int) -> None:
    """Move the particles of a row into the cells where they go."""
    for cell in grid.cells[row]:
        for particle in cell.particles:
            particle.speed_x += DT * particle.push_x / UNIT
            particle.speed_y += DT * (particle.push_y / UNIT - 4.0)
            particle.x, particle.speed_x = within(particle.x, particle.speed_x, COLUMNS)
            particle.y, particle.speed_y = within(particle.y, particle.speed_y, ROWS)
            particle.density = particle.push_x = particle.push_y = 0
            target = grid.cells[int(particle.y)][int(particle.x)]
            with target.lock:
                target.coming.append(particle)
        cell.particles = []


def within(place: float, speed: float, limit: int) -> tuple[float, float]:
    """A step, thrown back by the walls; never more than half a cell."""
    place += max(-0.5, min(0.5, DT * speed))
    if place < 0.0:
        return -place, -0.5 * speed
    if place >= limit:
        return 2.0 * limit - place - 1e-9, -0.5 * speed
    return place, speed


def settle(grid: Grid, row: int) -> None:
    """Those that came are there."""
    for cell in grid.cells[row]:
        cell.particles, cell.coming = cell.coming, []


def main() -> None:
    """Let it flow."""
    team, scale = start()
    frames = at_least(1, FRAMES * scale)
    grid = Grid(team)

    def work(number: int) -> None:
        rows = team.share(number, ROWS)
        for row in rows:
            grid.fill(row)
        team.barrier.wait()
        for _ in range(frames):
            for row in rows:
                meet(grid, row, is_push=False)
            team.barrier.wait()
            for row in rows:
                meet(grid, row, is_push=True)
            team.barrier.wait()
            for row in rows:
                advance(grid, row)
            team.barrier.wait()
            for row in rows:
                settle(grid, row)
            team.barrier.wait()

    team.run(work)
    cells = [cell for row in grid.cells for cell in row]
    team.finish(sorted((drop.x, drop.y) for cell in cells for drop in cell.particles))


main()
