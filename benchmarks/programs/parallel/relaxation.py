"""Shared memory: shortest ways in a graph, its edges relaxed without locks until all is still.

Threads race for the distances, and some changes are lost; the next round makes them again. So the
end is always the same, though the way there is not.
"""

from random import Random

from team import at_least, start

NODES = 4_000
EDGES_EACH = 6
FAR = 1 << 40


class Node:
    """A place; `edges` are the places before it and the ways from there."""

    def __init__(self) -> None:
        self.distance = FAR
        self.edges: list[tuple[Node, int]] = []


class Progress:
    """Whether the last rounds changed anything, three of them in turn."""

    def __init__(self) -> None:
        self.is_changed = [False, False, False]


def graph(size: int) -> list[Node]:
    """A ring with many short cuts."""
    random = Random(31)
    nodes = [Node() for _ in range(size)]
    for number, node in enumerate(nodes):
        node.edges.append((nodes[number - 1], random.randrange(50, 100)))
        for _ in range(EDGES_EACH):
            near = number + random.randrange(-40, 40)
            node.edges.append((nodes[near % size], random.randrange(100, 2_000)))
    nodes[0].distance = 0
    return nodes


def relax(nodes: list[Node], part: range) -> bool:
    """Whether any node of the part came nearer."""
    is_changed = False
    for number in part:
        node = nodes[number]
        for other, length in node.edges:
            distance = other.distance + length
            if distance < node.distance:
                node.distance = distance
                is_changed = True
    return is_changed


def main() -> None:
    """Relax until all is done."""
    team, scale = start()
    nodes = graph(at_least(8, NODES * scale))
    progress = Progress()

    def work(number: int) -> None:
        part = team.share(number, len(nodes))
        turn = 0
        while True:
            progress.is_changed[(turn + 1) % 3] = False
            if relax(nodes, part):
                progress.is_changed[turn] = True
            team.barrier.wait()
            if not progress.is_changed[turn]:
                return
            turn = (turn + 1) % 3

    team.run(work)
    team.finish([node.distance for node in nodes])


main()
