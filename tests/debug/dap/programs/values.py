"""Values of many kinds, and a callback out of a library."""

from functools import cmp_to_key
from heapq import nsmallest


class Node:
    __slots__ = ("name", "next")

    def __init__(self, name, next=None):
        self.name = name
        self.next = next


class Broken:
    def __repr__(self):
        raise RuntimeError("no repr")


def key(value):
    return -value


def look(limit):
    nodes = Node("a", Node("b"))
    numbers = list(range(300))
    table = {"one": [1], (1, 2): {"deep": nodes}}
    some = {"x"}
    broken = Broken()
    text = "words"
    smallest = nsmallest(2, [3, 1, 2], key=key)
    return limit, nodes, numbers, table, some, broken, text, smallest, cmp_to_key


look(3)
print("done")
