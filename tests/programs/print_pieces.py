"""Lines written piece by piece with sys.stdout.write, writelines and the binary buffer below.

Varies: how the pieces of different threads mix within a line.
"""

import sys
import threading


def write(name):
    for step in range(20):
        for piece in ("<", name, ":", str(step), ">", "\n"):
            sys.stdout.write(piece)
        sys.stdout.flush()


def write_lines(name):
    for step in range(20):
        sys.stdout.writelines([f"[{name}", f":{step}", "]\n"])


def write_bytes(name):
    for step in range(20):
        sys.stdout.flush()
        sys.stdout.buffer.write(f"({name}:{step})".encode())
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
threads += [threading.Thread(target=write_lines, args=(name,)) for name in "cd"]
threads += [threading.Thread(target=write_bytes, args=(name,)) for name in "ef"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
