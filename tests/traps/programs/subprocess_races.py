"""A child process and a thread write the same file: what the child does is not explored."""

import os
import subprocess
import sys
import tempfile
import threading

path = os.path.join(tempfile.mkdtemp(), "value")
with open(path, "w") as file:
    file.write("0")
ADD = f"""
value = int(open({path!r}).read())
open({path!r}, "w").write(str(value + 1))
"""


def run_child() -> None:
    subprocess.run([sys.executable, "-S", "-c", ADD], check=True)


thread = threading.Thread(target=run_child)
thread.start()
thread.join()
with open(path) as file:
    assert file.read() == "1"
