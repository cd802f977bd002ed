"""Subprocesses: output, errors, exit codes, signals, time limits, input, environment.

Varies: process ids and the order.
"""

import os
import signal
import subprocess
import sys
import threading

seen = []


def run(name, *words, **options):
    done = subprocess.run(words, capture_output=True, **options)
    seen.append((name, done.returncode, done.stdout, done.stderr))


jobs = [
    ("echo", "echo", "hello"),
    ("fails", "sh", "-c", "echo bad >&2; exit 3"),
    ("its pid", "sh", "-c", "echo $$ $PPID"),
    ("killed", "sh", "-c", "kill -9 $$"),
]
threads = [threading.Thread(target=run, args=job) for job in jobs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
run("input", "tr", "a-z", "A-Z", input=b"shout")
run("elsewhere", "pwd", cwd="/", env={"A": "b"})
for line in seen:
    print(*line)

print(subprocess.check_output("echo $((6 * 7))", shell=True, text=True))
print(os.system("exit 5") >> 8, os.popen("echo by popen").read())
print(subprocess.getstatusoutput("echo both; exit 4"))
try:
    subprocess.run(["sleep", "5"], timeout=0.01)
except subprocess.TimeoutExpired as error:
    print(error)
try:
    subprocess.run(["no such command"])
except FileNotFoundError as error:
    print(error)
with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cat:
    cat.stdin.write("through a cat\n")
    cat.stdin.close()
    print(cat.stdout.read(), cat.poll(), cat.pid != os.getpid())
sleeper = subprocess.Popen(["sleep", "5"])
sleeper.send_signal(signal.SIGTERM)
print(sleeper.wait(), sleeper.returncode)
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 6"], {})
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try:
    os.waitpid(pid, 0)
except ChildProcessError as error:
    print(error)
sys.stdout.flush()
