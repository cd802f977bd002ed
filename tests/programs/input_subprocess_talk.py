"""Conversations with several child processes at once, over pipes, in threads.

Varies: the order of answers.
"""

import subprocess
import sys
import threading

CHILD = """
import os, sys
for line in sys.stdin:
    print(os.getpid(), line.strip()[::-1], flush=True)
"""
answers = []


def talk(name):
    command = [sys.executable, "-S", "-E", "-c", CHILD]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as child:
        for number in range(3):
            child.stdin.write(f"{name}{number}\n")
            child.stdin.flush()
            pid, answer = child.stdout.readline().split()
            answers.append((answer, int(pid) == child.pid, pid))
        print(child.communicate(), child.returncode)


threads = [threading.Thread(target=talk, args=(name,)) for name in ("ab", "cd", "ef")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(answers)
