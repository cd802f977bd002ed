"""Directories: order of listings, entries, walks, globs, copies and moves.

Varies: the order of entries, which is the file system's own; times.
"""

import glob
import os
import shutil
import tempfile
import threading
from pathlib import Path

place = Path(tempfile.mkdtemp())
results = []


def tell(*words):
    results.append(words)
    print(*words)


def make(name):
    for number in range(4):
        (place / f"{name}{number}").mkdir()
        (place / f"{name}{number}" / f"{name}.txt").write_text(f"{name} {number}")


threads = [threading.Thread(target=make, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
os.symlink(place / "a0", place / "link")

tell("listed", os.listdir(place), os.listdir(os.fsencode(place))[:2])
with os.scandir(place) as entries:
    for entry in entries:
        facts = entry.stat(follow_symlinks=False)
        kinds = entry.is_dir(), entry.is_file(), entry.is_symlink(), isinstance(entry, os.DirEntry)
        tell(entry.name, *kinds, entry.inode() == facts.st_ino, facts.st_mtime_ns, entry)
for top, directories, names in os.walk(place):
    tell("walk", top[-2:], directories, names)
tell("glob", [each[-5:] for each in glob.glob(f"{place}/**/*.txt", recursive=True)])
tell("paths", [each.name for each in place.iterdir()])
tell("found", [each.parent.name for each in place.rglob("b*.txt")])
shutil.copy(place / "a1" / "a.txt", place / "copy")
shutil.copy2(place / "a2" / "a.txt", place / "copy2")
shutil.copytree(place / "a3", place / "tree")
shutil.move(place / "b0", place / "moved")
tell("copied", (place / "copy").read_text(), (place / "copy2").read_text())
tell("tree", (place / "tree" / "a.txt").read_text(), (place / "moved" / "b.txt").read_text())
shutil.rmtree(place / "c0")
tell("exists", (place / "c0").exists(), (place / "b0").is_dir(), (place / "c1").is_dir())
tell("usage", shutil.disk_usage(place).total > 0, shutil.which("sh"))
os.chdir(place)
tell("here", os.getcwd() == str(place), Path("copy").resolve().name, Path("copy").read_text())
try:
    os.scandir("missing")
except FileNotFoundError as error:
    tell("missing", error)
os.chdir("/")
shutil.rmtree(place)
tell("gone", place.exists())
