"""Files open for reading, writing, appending and both, by two threads at once; one is mapped."""

import mmap
import os
import tempfile
import threading

folder = tempfile.mkdtemp()
path = os.path.join(folder, "numbers")
with open(path, "w") as file:
    file.write("".join(f"line {number}\n" for number in range(200)))


def read(found):
    with open(path) as source, open(__file__) as own:
        for line in source:
            found.append(line)
            found.append(own.readline())


def write(name, found):
    with open(os.path.join(folder, name), "w+b", buffering=0) as target:
        for number in range(40):
            target.write(b"%d;" % number)
            if number % 10 == 9:
                target.seek(number)
                found.append(target.read(5))
                target.seek(0, os.SEEK_END)
        target.seek(0)
        found.append(target.read())
    with open(os.path.join(folder, name), "ab") as target:
        target.write(b"more")
        found.append(target.tell())


def change_map(found):
    with open(os.path.join(folder, "mapped"), "w+b") as target:
        target.write(bytes(64))
        target.flush()
        with mmap.mmap(target.fileno(), 64) as mapped:
            for number in range(64):
                mapped[number] = (mapped[number - 1] + number) % 256
            found.append(bytes(mapped))
        target.seek(0)
        found.append(target.read())


results = [[] for _ in range(4)]
threads = [
    threading.Thread(target=read, args=(results[0],)),
    threading.Thread(target=write, args=("one", results[1])),
    threading.Thread(target=write, args=("two", results[2])),
    threading.Thread(target=change_map, args=(results[3],)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for each in results:
    print(len(each), hash(str(each)))
