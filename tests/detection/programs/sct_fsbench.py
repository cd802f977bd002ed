"""Missing lock: inodes are locked, the blocks that they are given are not.

From: fsbench_bad, SCTBench (CS).
Needs: two files look at the same block before one of them has marked it busy.
"""

import threading
from collections.abc import Callable


class Disk:
    def __init__(self) -> None:
        self.inode_locks = [threading.Lock(), threading.Lock()]
        self.block_lock = threading.Lock()
        self.inodes = [-1, -1]
        self.busy = [False, False]

    def find_block(self) -> int:
        for block in range(2):
            if not self.busy[block]:
                self.busy[block] = True
                return block
        return -1

    def create(self, inode: int) -> None:
        with self.inode_locks[inode]:
            self.inodes[inode] = self.find_block()

    def create_locked(self, inode: int) -> None:
        with self.inode_locks[inode], self.block_lock:
            self.inodes[inode] = self.find_block()


def run(disk: Disk, create: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=create, args=(inode,)) for inode in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(disk.inodes) == [0, 1]


def buggy() -> None:
    disk = Disk()
    run(disk, disk.create)


def safe() -> None:
    disk = Disk()
    run(disk, disk.create_locked)
