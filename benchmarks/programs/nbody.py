"""Compute: planets under gravity; float arithmetic in nested loops, few calls."""

from dataclasses import dataclass
from itertools import combinations

from parts import run_parts

STEPS = 140_000
DT = 0.01


@dataclass
class Body:
    """A point mass."""

    mass: float
    position: list[float]
    velocity: list[float]


def make_system() -> list[Body]:
    """A sun and four planets, in made-up units."""
    bodies = [Body(40.0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])]
    for number in range(1, 5):
        radius = 4.0 * number
        speed = (40.0 / radius) ** 0.5
        bodies.append(Body(0.01 * number, [radius, 0.0, 0.1 * number], [0.0, speed, 0.0]))
    return bodies


def attract(pairs: list[tuple[Body, Body]]) -> None:
    """Change the velocities of all pairs."""
    for first, second in pairs:
        x1, y1, z1 = first.position
        x2, y2, z2 = second.position
        dx, dy, dz = x1 - x2, y1 - y2, z1 - z2
        pull = DT * (dx * dx + dy * dy + dz * dz) ** -1.5
        accelerate(first.velocity, -second.mass * pull, dx, dy, dz)
        accelerate(second.velocity, first.mass * pull, dx, dy, dz)


def accelerate(velocity: list[float], factor: float, dx: float, dy: float, dz: float) -> None:
    """Add `factor` times the distance."""
    velocity[0] += factor * dx
    velocity[1] += factor * dy
    velocity[2] += factor * dz


def move(bodies: list[Body]) -> None:
    """Change the positions."""
    for body in bodies:
        position, velocity = body.position, body.velocity
        for axis in range(3):
            position[axis] += DT * velocity[axis]


def energy(bodies: list[Body]) -> float:
    """Kinetic energy, as a check."""
    return sum(0.5 * body.mass * sum(v * v for v in body.velocity) for body in bodies)


def simulate(part: float) -> float:
    """A system of its own for a part of all steps."""
    bodies = make_system()
    pairs = list(combinations(bodies, 2))
    for _ in range(int(STEPS * part)):
        attract(pairs)
        move(bodies)
    return energy(bodies)


def main() -> None:
    """Run the simulation."""
    energies, watch = run_parts(simulate)
    print(f"energy {energies[0]:.9f}")
    watch.print()


main()
