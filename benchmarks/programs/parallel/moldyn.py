"""Molecular dynamics: particles that attract and repel, in a box whose opposite sides meet.

After moldyn of Java Grande: all pairs, forces gathered by each thread in lists of its own, and
added up after a barrier. The pairs are dealt out in a fixed number of blocks, each with its own
lists, and added up in the order of the blocks: so the result does not depend on the number of
threads.
"""

from random import Random

from team import at_least, start

SIDE = 6
SPACING = 1.25
BOX = SIDE * SPACING
CUTOFF_SQUARED = 2.5 * 2.5
BLOCKS = 12
STEPS = 60
DT = 0.004

Axes = tuple[list[float], list[float], list[float]]


class System:
    """What the threads share; `forces` and `energies` have one entry a block."""

    def __init__(self) -> None:
        random = Random(11)
        places = [(x, y, z) for x in range(SIDE) for y in range(SIDE) for z in range(SIDE)]
        self.x = [SPACING * place[0] for place in places]
        self.y = [SPACING * place[1] for place in places]
        self.z = [SPACING * place[2] for place in places]
        self.size = len(places)
        self.speeds = [tuple(random.gauss(0.0, 1.0) for _ in range(3)) for _ in places]
        self.forces: list[Axes | None] = [None] * BLOCKS
        self.energies = [0.0] * BLOCKS


def look(system: System) -> Axes:
    """Where all particles are, as numbers that are the thread's own."""
    return (
        [x + 0.0 for x in system.x],
        [y + 0.0 for y in system.y],
        [z + 0.0 for z in system.z],
    )


def attract(system: System, places: Axes, block: int) -> None:
    """The forces of the pairs of one block."""
    xs, ys, zs = places
    fx, fy, fz = [0.0] * system.size, [0.0] * system.size, [0.0] * system.size
    half, energy = BOX / 2, 0.0
    for i in range(block, system.size, BLOCKS):
        x, y, z = xs[i], ys[i], zs[i]
        sum_x = sum_y = sum_z = 0.0
        for j in range(i + 1, len(xs)):
            dx = x - xs[j]
            if dx > half:
                dx -= BOX
            elif dx < -half:
                dx += BOX
            dy = y - ys[j]
            if dy > half:
                dy -= BOX
            elif dy < -half:
                dy += BOX
            dz = z - zs[j]
            if dz > half:
                dz -= BOX
            elif dz < -half:
                dz += BOX
            squared = dx * dx + dy * dy + dz * dz
            if squared < CUTOFF_SQUARED:
                inverse = 1.0 / squared
                sixth = inverse * inverse * inverse
                pull = 48.0 * sixth * (sixth - 0.5) * inverse
                energy += 4.0 * sixth * (sixth - 1.0)
                dx *= pull
                dy *= pull
                dz *= pull
                sum_x += dx
                sum_y += dy
                sum_z += dz
                fx[j] -= dx
                fy[j] -= dy
                fz[j] -= dz
        fx[i] += sum_x
        fy[i] += sum_y
        fz[i] += sum_z
    system.forces[block] = (fx, fy, fz)
    system.energies[block] += energy


def move(system: System, part: range) -> None:
    """Add up the forces on some particles, and let them move."""
    blocks = [forces for forces in system.forces if forces is not None]
    for i in part:
        speed = system.speeds[i]
        forces = [0.0, 0.0, 0.0]
        for block in blocks:
            for axis in range(3):
                forces[axis] += block[axis][i]
        vx, vy, vz = (speed[axis] + DT * forces[axis] for axis in range(3))
        system.speeds[i] = (vx, vy, vz)
        system.x[i] = (system.x[i] + DT * vx) % BOX
        system.y[i] = (system.y[i] + DT * vy) % BOX
        system.z[i] = (system.z[i] + DT * vz) % BOX


def main() -> None:
    """Simulate."""
    team, scale = start()
    steps = at_least(2, STEPS * scale)
    system = System()

    def work(number: int) -> None:
        blocks = team.turns(number, BLOCKS)
        part = team.share(number, system.size)
        for _ in range(steps):
            places = look(system)
            for block in blocks:
                attract(system, places, block)
            team.barrier.wait()
            move(system, part)
            team.barrier.wait()

    team.run(work)
    team.finish((system.x, system.y, system.z, system.energies))


main()
