"""Objects that refer to each other go when they are collected, in whichever thread that happens."""

import gc
import threading


class Node:
    def __init__(self):
        self.other = None
        self.uses = 0

    def __del__(self):
        self.uses += 1


def use(node):
    node.uses += 1
    del node


def main():
    one, two = Node(), Node()
    one.other, two.other = two, one
    threads = [threading.Thread(target=use, args=(each,)) for each in (one, two)]
    for thread in threads:
        thread.start()
    del one, two, threads, thread


gc.disable()
main()
while threading.active_count() > 1:
    pass
gc.collect()
