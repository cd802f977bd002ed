"""Objects: bodies under gravity, with objects for everything; attributes read and written."""

from parts import run_parts

STEPS = 64_000
BODIES = 5
DT = 0.01


class Vector:
    """Three numbers."""

    def __init__(self, x: float, y: float, z: float) -> None:
        self.x = x
        self.y = y
        self.z = z

    def add(self, other: "Vector", factor: float) -> None:
        """Add `factor` times the other."""
        self.x += other.x * factor
        self.y += other.y * factor
        self.z += other.z * factor

    def set_difference(self, first: "Vector", second: "Vector") -> None:
        """Become what leads from the second to the first."""
        self.x = first.x - second.x
        self.y = first.y - second.y
        self.z = first.z - second.z

    def square(self) -> float:
        """The length, squared."""
        return self.x * self.x + self.y * self.y + self.z * self.z


class Body:
    """A point mass."""

    def __init__(self, mass: float, place: Vector, speed: Vector) -> None:
        self.mass = mass
        self.place = place
        self.speed = speed

    def energy(self) -> float:
        """What its motion has."""
        return 0.5 * self.mass * self.speed.square()


class System:
    """Bodies that attract one another."""

    def __init__(self) -> None:
        self.way = Vector(0.0, 0.0, 0.0)
        self.steps = 0
        self.bodies = [Body(40.0, Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0))]
        for number in range(1, BODIES):
            radius = 4.0 * number
            place = Vector(radius, 0.0, 0.1 * number)
            speed = Vector(0.0, (40.0 / radius) ** 0.5, 0.0)
            self.bodies.append(Body(0.01 * number, place, speed))

    def attract(self, first: Body, second: Body) -> None:
        """Change the speeds of two."""
        self.way.set_difference(first.place, second.place)
        pull = DT * self.way.square() ** -1.5
        first.speed.add(self.way, -second.mass * pull)
        second.speed.add(self.way, first.mass * pull)

    def step(self) -> None:
        """Let a little time pass."""
        for number, first in enumerate(self.bodies):
            for second in self.bodies[number + 1 :]:
                self.attract(first, second)
        for body in self.bodies:
            body.place.add(body.speed, DT)
        self.steps += 1


def simulate(part: float) -> float:
    """A system of its own for a part of all steps."""
    system = System()
    while system.steps < STEPS * part:
        system.step()
    return sum(body.energy() for body in system.bodies)


def main() -> None:
    """Run the simulation."""
    energies, watch = run_parts(simulate)
    print(f"energy {energies[0]:.9f}")
    watch.print()


main()
