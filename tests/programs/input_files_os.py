"""Files at the level of the operating system: descriptors, positions, links, modes, times.

Varies: times and inode numbers.
"""

import fcntl
import mmap
import os
import stat
import tempfile
import threading

place = tempfile.mkdtemp()
path = os.path.join(place, "file")
results = []


def tell(*words):
    results.append(words)
    print(*words)


fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o640)
tell("made", fd, os.write(fd, b"0123456789"), os.lseek(fd, 0, os.SEEK_CUR))
tell("read", os.lseek(fd, 2, os.SEEK_SET), os.read(fd, 3), os.pread(fd, 3, 7))
tell("written", os.pwrite(fd, b"AB", 1), os.writev(fd, [b"cd", b"ef"]), os.fstat(fd).st_size)
os.lseek(fd, 0, os.SEEK_SET)
pieces = [bytearray(2), bytearray(3)]
tell("scattered", os.readv(fd, pieces), pieces)
copy = os.dup(fd)
tell("copied", copy, os.lseek(copy, 0, os.SEEK_CUR), os.get_inheritable(copy))
os.close(copy)
os.ftruncate(fd, 4)
facts = os.fstat(fd)
tell("facts", oct(facts.st_mode), facts.st_size, facts.st_ino, facts.st_mtime_ns, facts.st_nlink)
with mmap.mmap(fd, 4) as map:
    map[1:3] = b"zz"
    tell("mapped", map[:], map.find(b"z"))
tell("after", os.pread(fd, 9, 0), fcntl.flock(fd, fcntl.LOCK_EX), os.fsync(fd))
os.close(fd)
try:
    os.read(fd, 1)
except OSError as error:
    tell("closed", error)

os.chmod(path, 0o600)
os.utime(path, (1, 2))
os.link(path, path + ".link")
os.symlink("file", path + ".soft")
tell("stat", oct(os.stat(path).st_mode), os.stat(path).st_mtime, os.lstat(path + ".soft").st_size)
tell("links", os.readlink(path + ".soft"), os.stat(path).st_nlink, os.path.islink(path))
tell("same", os.path.samefile(path, path + ".link"), os.path.realpath(path + ".soft")[-5:])
with open(path + ".soft") as file:
    tell("through the link", file.read())
os.rename(path, path + ".new")
tell("exists", os.path.exists(path), os.access(path + ".new", os.R_OK), os.path.getsize(path + ".new"))
with open(path + ".new") as file:
    tell("renamed", file.read())
directory = os.open(place, os.O_RDONLY)
inner = os.open("file.new", os.O_RDONLY, dir_fd=directory)
tell("by directory", os.read(inner, 9), stat.S_ISDIR(os.fstat(directory).st_mode))
os.close(inner)
tell("listed", sorted(os.listdir(directory)))
os.close(directory)
for action in (os.remove, os.rmdir, os.stat, os.readlink, os.listdir):
    try:
        action(path)
    except OSError as error:
        tell(action.__name__, type(error).__name__, error.filename == path)


def write_and_read(number):
    name = f"{path}{number}"
    with open(name, "w") as file:
        file.write(str(number) * 3)
    with open(name) as file:
        results.append(file.read())
    os.unlink(name)


threads = [threading.Thread(target=write_and_read, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
tell(results[-4:], len(os.listdir(place)))
