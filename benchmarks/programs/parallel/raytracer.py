"""Ray tracing: balls in a box, with shadows and reflections.

After raytracer of Java Grande: the lines of the picture are dealt out to the threads in turn;
each thread builds the scene for itself, and all put their lines into one picture and add to one
sum, under a lock.
"""

import threading
from math import sqrt

from team import at_least, start

WIDTH = 160
LINES = 160
BALLS = 4
DEPTH = 2
FAR = 1e30

Vector = tuple[float, float, float]
Ball = tuple[float, float, float, float, float, float]


class Picture:
    """What the threads share."""

    def __init__(self, lines: int) -> None:
        self.lines: list[list[int] | None] = [None] * lines
        self.lock = threading.Lock()
        self.brightness = 0


class Scene:
    """Balls of several sizes: centre, squared radius, shine and colour; and a light."""

    def __init__(self) -> None:
        places = [(x, y, z) for x in range(BALLS) for y in range(BALLS) for z in range(2)]
        self.balls: list[Ball] = [
            (
                2.0 * x - BALLS + 1.0,
                2.0 * y - BALLS + 1.0,
                6.0 + 2.0 * z,
                0.6 + 0.05 * ((x + y + z) % 4),
                0.2 + 0.1 * (x % 3),
                0.3 + 0.15 * (y % 4),
            )
            for x, y, z in places
        ]
        self.light = (-5.0, 8.0, -6.0)


def nearest(balls: list[Ball], start: Vector, way: Vector) -> tuple[float, Ball | None]:
    """What a ray meets first, and how far away."""
    ox, oy, oz = start
    wx, wy, wz = way
    best, met = FAR, None
    for ball in balls:
        cx, cy, cz, squared_radius, _, _ = ball
        cx -= ox
        cy -= oy
        cz -= oz
        along = cx * wx + cy * wy + cz * wz
        if along > 0.0:
            beside = along * along - (cx * cx + cy * cy + cz * cz) + squared_radius
            if beside > 0.0:
                distance = along - sqrt(beside)
                if 1e-6 < distance < best:
                    best, met = distance, ball
    return best, met


def trace(scene: Scene, start: Vector, way: Vector, depth: int) -> float:
    """How bright it is where a ray comes from."""
    distance, ball = nearest(scene.balls, start, way)
    if ball is None:
        return 0.1 + 0.2 * abs(way[1])
    cx, cy, cz, squared_radius, shine, colour = ball
    px, py, pz = (start[axis] + distance * way[axis] for axis in range(3))
    radius = sqrt(squared_radius)
    nx, ny, nz = (px - cx) / radius, (py - cy) / radius, (pz - cz) / radius
    lx, ly, lz = (scene.light[axis] - place for axis, place in enumerate((px, py, pz)))
    length = sqrt(lx * lx + ly * ly + lz * lz)
    lx, ly, lz = lx / length, ly / length, lz / length
    bright = 0.1 * colour
    facing = nx * lx + ny * ly + nz * lz
    if facing > 0.0 and nearest(scene.balls, (px, py, pz), (lx, ly, lz))[0] > length:
        bright += colour * facing
    if depth > 0:
        turn = 2.0 * (nx * way[0] + ny * way[1] + nz * way[2])
        mirrored = (way[0] - turn * nx, way[1] - turn * ny, way[2] - turn * nz)
        bright += shine * trace(scene, (px, py, pz), mirrored, depth - 1)
    return bright


def draw(scene: Scene, line: int, lines: int) -> list[int]:
    """One line of the picture, its points from 0 to 255."""
    points = []
    y = 1.0 - 2.0 * (line + 0.5) / lines
    for column in range(WIDTH):
        x = 2.0 * (column + 0.5) / WIDTH - 1.0
        length = sqrt(x * x + y * y + 1.0)
        bright = trace(scene, (0.0, 0.0, 0.0), (x / length, y / length, 1.0 / length), DEPTH)
        points.append(min(255, int(255.0 * bright)))
    return points


def main() -> None:
    """Draw the picture."""
    team, scale = start()
    picture = Picture(at_least(2, LINES * scale))

    def work(number: int) -> None:
        scene = Scene()
        for line in team.turns(number, len(picture.lines)):
            points = draw(scene, line, len(picture.lines))
            picture.lines[line] = points
            with picture.lock:
                picture.brightness += sum(points)

    team.run(work)
    team.finish((picture.lines, picture.brightness))


main()
