"""What an epoch does to the outside, one way each; then it is gone back to.

    outside.py WAY...

Each way is given a directory of its own. What it has seen is in `seen`, and printed, with whether
the directory is as it was before the re-execution, which must see the same.
"""

import fcntl
import mmap
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import reenact

seen = []


def overwritten(place):
    """A file is overwritten by other means than it is read by."""
    path = place / "file"
    path.write_text("first\nsecond\n")
    with path.open(buffering=1) as file:
        seen.append(file.readline())
        os.lseek(file.fileno(), 6, os.SEEK_SET)
        reenact.begin_epoch()
        seen.append(os.read(file.fileno(), 3))
        path.write_text("ANOTHER TEXT, AND LONGER\n")
        seen.append(os.read(file.fileno(), 100))
    seen.append(path.read_text())


def changed_in_place(place):
    """A counter in a file is read and written through one descriptor."""
    path = place / "file"
    path.write_bytes(b"0007 and more")
    with path.open("r+b", buffering=0) as file:
        reenact.begin_epoch()
        for _ in range(3):
            file.seek(0)
            number = int(file.read(4))
            seen.append(number)
            file.seek(0)
            file.write(b"%04d" % (number + 1))
        seen.append(file.seek(0, os.SEEK_END))
    seen.append(path.read_bytes())


def appended(place):
    """A log that is written to since before the epoch, and read in it."""
    path = place / "log"
    with path.open("a") as log:
        log.write("before\n")
        log.flush()
        reenact.begin_epoch()
        log.write("one\n")
        log.flush()
        with path.open("r+") as again:
            seen.append(again.read())
            log.write("two\n")
            log.flush()
            seen.append(again.read())
        seen.append(path.read_text())
        seen.append(log.tell())
    seen.append(path.read_text())


def unlinked(place):
    """Names go, what they named is read all the same."""
    path, other = place / "file", place / "other"
    path.write_text("contents")
    with path.open() as file:
        reenact.begin_epoch()
        path.unlink()
        seen.append(path.exists())
        seen.append(file.read())
        other.write_text("made")
        other.rename(path)
        seen.append(path.read_text())
        path.unlink()
        (place / "directory").mkdir()
        seen.append(sorted(os.listdir(place)))


def closed(place):
    """The other ends hear of it at once; the numbers are used again."""
    left, right = socket.socketpair()
    (place / "file").write_text("contents")
    file = (place / "file").open()
    heard = threading.Event()

    def listen():
        seen.append(right.recv(10))
        heard.set()

    thread = threading.Thread(target=listen)
    thread.start()
    reenact.begin_epoch()
    left.close()
    seen.append(heard.wait(60))
    thread.join()
    number = file.fileno()
    file.close()
    again = (place / "file").open()
    seen.append(again.fileno() == number)
    seen.append(again.read())
    again.close()
    right.close()


def locked(place):
    """A lock that is given up by closing is free for others at once."""
    path = place / "lock"
    holder = path.open("w")
    fcntl.flock(holder, fcntl.LOCK_EX)
    reenact.begin_epoch()
    holder.close()
    with path.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        seen.append("taken")


def forked(place):
    """A child runs once, without epochs."""
    reenact.begin_epoch()
    child = os.fork()
    if child == 0:
        for number in range(100_000):  # long enough for somebody to want an epoch
            if number % 20_000 == 0:
                reenact.begin_epoch()
        with (place / "ran").open("a") as file:
            file.write("once\n")
        os._exit(7)
    seen.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    seen.append((place / "ran").read_text())


def started(place):
    """So do programs that are started."""
    reenact.begin_epoch()
    code = f"open({str(place / 'ran')!r}, 'a').write('once\\n'); print('said')"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    seen.append(done.stdout)
    seen.append((place / "ran").read_text())


def mapped(place):
    """Memory that is shared with other processes is as it was."""
    memory = mmap.mmap(-1, 4096)
    path = place / "file"
    path.write_bytes(b"before" * 1000)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as of_file:
        memory[0] = 1
        reenact.begin_epoch()
        seen.append((memory[0], of_file[:6]))
        memory[0] = 2
        of_file[:6] = b"AFTER!"
        seen.append((memory[0], of_file[:6]))
    seen.append(path.read_bytes()[:8])


def look(place):
    return sorted((each.name, each.stat().st_size) for each in place.iterdir())


for way in sys.argv[1:]:
    seen.clear()
    with tempfile.TemporaryDirectory() as name:
        globals()[way](Path(name))
        before = look(Path(name))
        reenact.rollback(way)
        print(way, look(Path(name)) == before, repr(seen))
