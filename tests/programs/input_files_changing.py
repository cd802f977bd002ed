"""Another process changes files while they are read: appends, replaces, truncates.

Varies: how much is there at each look.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time

place = tempfile.mkdtemp()
path = os.path.join(place, "log")
CODE = """
import os, sys, time
path = sys.argv[1]
for number in range(6):
    with open(path, "a") as file:
        file.write(f"line {number}\\n")
    time.sleep(0.002)
with open(path + ".new", "w") as file:
    file.write("replaced")
os.replace(path + ".new", path)
"""
looks = []


def follow():
    """One descriptor, as `tail -f` has."""
    with open(path) as file:
        while not done.is_set():
            looks.append(("follow", file.readline()))
            time.sleep(0.001)


def look_again():
    while not done.is_set():
        with open(path, "rb") as file:
            looks.append(("again", len(file.read()), os.stat(path).st_size))
        time.sleep(0.001)


with open(path, "w") as first:
    first.write("begun\n")
done = threading.Event()
threads = [threading.Thread(target=target) for target in (follow, look_again)]
for thread in threads:
    thread.start()
code = subprocess.call([sys.executable, "-S", "-c", CODE, path])
done.set()
for thread in threads:
    thread.join()
with open(path) as last:
    print(code, last.read())
with open(os.path.join(place, "output"), "w+") as output:
    subprocess.check_call(["echo", "by a child"], stdout=output)
    output.seek(0)
    print(output.read())
for look in looks:
    print(*look)
