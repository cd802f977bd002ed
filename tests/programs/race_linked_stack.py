"""A linked stack without locks: pushes and pops lose or repeat nodes.

Varies: what was popped by whom, repeated and lost nodes.
"""

import threading


class Node:
    def __init__(self, value, below):
        self.value = value
        self.below = below


top = None
popped = []


def push(value):
    global top
    top = Node(value, top)


def pop():
    global top
    node = top
    if node is None:
        return None
    top = below(node)
    return node.value


def below(node):
    return node.below


def work(name):
    for step in range(50):
        push(name * 100 + step)
        if step % 3:
            popped.append(pop())


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

left = []
while top is not None:
    left.append(pop())
seen = [value for value in popped + left if value is not None]
print("popped", len(popped), "empty", popped.count(None), "left", len(left))
print("repeated", len(seen) - len(set(seen)), "lost", 200 - len(set(seen)))
print("left", left[:20])
