"""Drives other programs: run, pipes in both directions, pipelines, os.system, os.popen, kills."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading

found: list[object] = []


def simple() -> None:
    found.append(subprocess.run(["cat", "input.txt"], capture_output=True, text=True).stdout)
    found.append(subprocess.run(["sh", "-c", "echo $$; exit 7"], capture_output=True).stdout)
    found.append(subprocess.check_output("date +%N; id -u", shell=True, text=True))
    try:
        subprocess.run(["sh", "-c", "exit 3"], check=True)
    except subprocess.CalledProcessError as error:
        found.append(error.returncode)
    try:
        subprocess.run(["/no/such/program"], check=True)
    except FileNotFoundError as error:
        found.append(str(error))


def pipes() -> None:
    sort = subprocess.Popen(
        ["sort", "-r"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    found.append(sort.communicate("one\ntwo\nthree\n")[0])
    first = subprocess.Popen(["cat", "input.txt"], stdout=subprocess.PIPE)
    second = subprocess.Popen(["wc", "-c"], stdin=first.stdout, stdout=subprocess.PIPE)
    first.stdout.close()
    found.append(second.communicate()[0])
    found.append((first.wait(), second.returncode))


def conversation() -> None:
    script = "while read line; do echo heard $line $$; done"
    with subprocess.Popen(
        ["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as shell:
        for word in ("red", "green", "blue"):
            shell.stdin.write(word + "\n")
            found.append(shell.stdout.readline())
        shell.stdin.close()
    found.append(shell.returncode)


def endings() -> None:
    sleeper = subprocess.Popen(["sleep", "30"])
    try:
        sleeper.wait(timeout=0.05)
    except subprocess.TimeoutExpired:
        found.append("still asleep")
    sleeper.send_signal(signal.SIGTERM)
    found.append(sleeper.wait())
    found.append(os.system("exit 4"))
    with os.popen("echo from popen; echo $PPID") as lines:
        found.append(lines.read())
    found.append(subprocess.getstatusoutput("ls; false"))


def in_threads() -> None:
    def ask(number: int) -> None:
        words = [sys.executable, "-S", "-c", f"import os; print({number}, os.getpid())"]
        found.append(subprocess.run(words, capture_output=True, text=True).stdout)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


for part in (simple, pipes, conversation, endings, in_threads):
    part()
    print(part.__name__, len(found), flush=True)
print(found[0])
print("state", hashlib.sha256(repr(found).encode()).hexdigest())
sys.exit(0)
