"""Temporary files and directories, named and not, in memory and spilled.

Varies: their names.
"""

import os
import tempfile
import threading

lines = []


def tell(*words):
    lines.append(words)
    print(*words)


def use(number):
    with tempfile.TemporaryFile("w+") as file:
        file.write(f"none {number}")
        file.seek(0)
        lines.append(file.read())
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"named %d" % number)
        file.flush()
        with open(file.name, "rb") as again:
            lines.append((file.name, again.read()))
    with tempfile.SpooledTemporaryFile(8) as file:
        file.write(b"spilled over %d" % number)
        file.seek(0)
        lines.append(file.read())
    with tempfile.TemporaryDirectory() as place:
        fd, path = tempfile.mkstemp(dir=place)
        os.write(fd, b"made %d" % number)
        os.close(fd)
        with open(path) as file:
            lines.append((path, file.read(), os.listdir(place)))
    lines.append(os.path.exists(place))


threads = [threading.Thread(target=use, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for line in lines:
    print(line)
