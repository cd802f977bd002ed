"""Objects: binary trees; each thread grows and empties its own, and all look into a common one."""

from parts import run_parts

ROUNDS = 120
KEYS = 2_000
STRIDE = 1_229


class Node:
    """A key with what is below it."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.left: Node | None = None
        self.right: Node | None = None
        self.size = 1

    def insert(self, key: int) -> None:
        """Put a key below this one."""
        node = self
        while True:
            node.size += 1
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                    return
                node = node.left
            else:
                if node.right is None:
                    node.right = Node(key)
                    return
                node = node.right

    def total(self) -> int:
        """The sum of all keys from here."""
        total = self.key
        if self.left is not None:
            total += self.left.total()
        if self.right is not None:
            total += self.right.total()
        return total


class Tree:
    """Keys in order."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.changes = 0

    def fill(self, first: int) -> None:
        """Insert the keys in a mixed order."""
        key = first % KEYS
        self.root = Node(key)
        for _ in range(KEYS - 1):
            key = (key + STRIDE) % KEYS
            self.root.insert(key)
            self.changes += 1

    def depth_of(self, key: int) -> int:
        """How far below the root a key is; 0 if it is not there."""
        node = self.root
        depth = 1
        while node is not None:
            if node.key == key:
                return depth
            node = node.left if key < node.key else node.right
            depth += 1
        return 0

    def take_least(self) -> int:
        """Remove the least key."""
        assert self.root is not None
        self.changes += 1
        if self.root.left is None:
            key = self.root.key
            self.root = self.root.right
            return key
        node = self.root
        node.size -= 1
        while node.left is not None and node.left.left is not None:
            node = node.left
            node.size -= 1
        assert node.left is not None
        key = node.left.key
        node.left = node.left.right
        return key


def main() -> None:
    """Grow, search, empty."""
    common = Tree()
    common.fill(KEYS // 2)

    def work(part: float) -> int:
        check = 0
        for number in range(max(1, int(ROUNDS * part))):
            tree = Tree()
            tree.fill(KEYS // 2 + number)
            assert tree.root is not None
            check += tree.root.total()
            for key in range(KEYS):
                check += common.depth_of(key)
            while tree.root is not None:
                check += tree.take_least()
        return check

    checks, watch = run_parts(work)
    print("check", sum(checks))
    watch.print()


main()
