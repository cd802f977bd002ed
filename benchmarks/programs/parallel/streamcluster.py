"""Clustering: centres for points, opened one by one where that makes all ways shorter.

After streamcluster of PARSEC: each thread has a piece of the points, works out what a new centre
would gain for them, and leaves that in a shared list; after a barrier one thread decides, after
another all move their points. Gains are added up by blocks of points whose number is fixed, in
their order, so that the result does not depend on the number of threads.
"""

from random import Random

from team import at_least, start

POINTS = 4_000
DIMENSIONS = 8
BLOCKS = 12
CANDIDATES = 90
OPENING_COST = 60.0

Point = tuple[float, ...]


class Clusters:
    """What the threads share: points, their centres, and what they decide together."""

    def __init__(self, points: int) -> None:
        self.points: list[Point] = [()] * points
        self.centres = [0] * points
        self.distances = [0.0] * points
        self.gains = [0.0] * BLOCKS
        self.is_opened = False
        self.opened = [0]


def distance(one: Point, two: Point) -> float:
    """The squared distance."""
    total = 0.0
    for axis in range(DIMENSIONS):
        difference = one[axis] - two[axis]
        total += difference * difference
    return total


def make(shared: Clusters, block: int, part: range) -> None:
    """The points of a block, around a few middles; made by the thread that will use them."""
    random = Random(100 + block)
    for i in part:
        middle = random.randrange(6)
        shared.points[i] = tuple(random.gauss(middle, 0.4) for _ in range(DIMENSIONS))


def attach(shared: Clusters, part: range) -> None:
    """At first all belong to the first point."""
    first = tuple(place + 0.0 for place in shared.points[0])
    for i in part:
        shared.distances[i] = distance(shared.points[i], first)


def gain(shared: Clusters, part: range, centre: Point) -> float:
    """How much shorter the ways of a block would be."""
    total = 0.0
    for i in part:
        less = shared.distances[i] - distance(shared.points[i], centre)
        if less > 0.0:
            total += less
    return total


def move(shared: Clusters, part: range, candidate: int, centre: Point) -> None:
    """Those go to the new centre that are nearer to it."""
    for i in part:
        new = distance(shared.points[i], centre)
        if new < shared.distances[i]:
            shared.distances[i] = new
            shared.centres[i] = candidate


def decide(shared: Clusters, candidate: int) -> None:
    """Whether the candidate becomes a centre; done by one thread."""
    total = 0.0
    for one in shared.gains:
        total += one
    shared.is_opened = total > OPENING_COST
    if shared.is_opened:
        shared.opened.append(candidate)


def main() -> None:
    """Open centres."""
    team, scale = start()
    points = at_least(BLOCKS, POINTS * scale)
    shared = Clusters(points)
    chooser = Random(8)
    candidates = [chooser.randrange(points) for _ in range(CANDIDATES)]
    parts = [range(k * points // BLOCKS, (k + 1) * points // BLOCKS) for k in range(BLOCKS)]

    def work(number: int) -> None:
        mine = team.share(number, BLOCKS)
        for block in mine:
            make(shared, block, parts[block])
        team.barrier.wait()
        for block in mine:
            attach(shared, parts[block])
        for candidate in candidates:
            centre = tuple(place + 0.0 for place in shared.points[candidate])
            for block in mine:
                shared.gains[block] = gain(shared, parts[block], centre)
            if team.barrier.wait() == 0:
                decide(shared, candidate)
            team.barrier.wait()
            if shared.is_opened:
                for block in mine:
                    move(shared, parts[block], candidate, centre)

    team.run(work)
    team.finish((shared.opened, shared.centres))


main()
