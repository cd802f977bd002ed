"""Files that are made as they are read (/proc), and files appended to and then read.

reads live, appends, rereads
"""

import os
import subprocess
import tempfile

print(open("/proc/uptime").read())
with open("/proc/self/stat") as live:
    first = live.read()
    live.seek(0)
    print(first, live.read())
directory = tempfile.mkdtemp()
path = os.path.join(directory, "log")
subprocess.run(["sh", "-c", f"date +%N > {path}"], check=True)
with open(path, "a") as log:
    log.write(f"process {os.getpid()}\n")
    print(log.tell())
print(open(path).read())
with open(path, "r+") as log:
    log.seek(3)
    log.write("--")
    log.seek(0)
    print(log.readline())
subprocess.run(["sh", "-c", f"date +%N >> {path}"], check=True)
print(open(path).read())
os.unlink(path)
os.rmdir(directory)
