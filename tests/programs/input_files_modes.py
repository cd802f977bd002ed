"""Opens files in every mode, as text and as bytes, and reads back what was written.

Varies: the order of lines that threads append.
"""

import io
import os
import tempfile
import threading
from pathlib import Path

place = Path(tempfile.mkdtemp())
lines = []


def tell(*words):
    lines.append(words)
    print(*words)


def append(name):
    for number in range(5):
        with open(place / "log", "a") as file:
            file.write(f"{name}{number} ")


with open(__file__) as source:
    tell("itself", source.readline().strip(), source.tell())
    source.seek(0)
    tell("lines", sum(1 for _ in source))

threads = [threading.Thread(target=append, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
tell("appended", (place / "log").read_text())

with open(place / "x", "x") as file:
    tell("made", file.write("one\ntwo\r\nthree"), file.tell())
try:
    open(place / "x", "x")
except FileExistsError as error:
    tell("not twice", error.errno, error.filename == str(place / "x"))
for newline in (None, "", "\r\n"):
    with open(place / "x", newline=newline) as file:
        tell("newline", repr(newline), file.readlines())
with open(place / "x", "r+b") as file:
    file.seek(4)
    file.write(b"TWO")
    file.seek(-5, os.SEEK_END)
    tell("changed", file.read(), file.truncate(7), file.seek(0), file.read())
with open(place / "x", "ab+") as file:
    file.write(b"+more")
    file.seek(2)
    tell("extended", file.read(), file.tell())
with open(place / "x", "w+", encoding="utf-16") as file:
    file.write("Grüße")
    file.seek(0)
    tell("encoded", file.read(), len((place / "x").read_bytes()))
with open(place / "x", "rb", buffering=0) as file:
    target = bytearray(4)
    tell("unbuffered", file.readinto(target), bytes(target), file.read(2), file.readall())
with io.open(place / "x", "rb") as file, io.FileIO(place / "y", "w") as raw:
    tell("peek", file.peek(2)[:2], raw.write(file.read1(3)), raw.seekable(), raw.name.name)
(place / "empty").touch()
tell("empty", (place / "empty").read_text() == "", (place / "y").read_bytes())
for name in ("missing", "log/below", ""):
    try:
        open(place / name)
    except OSError as error:
        tell("cannot", name, type(error).__name__, error.errno, error.strerror)
