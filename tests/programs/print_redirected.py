"""sys.stdout replaced by some threads (contextlib.redirect_stdout) while others print.

Varies: which lines land in whose buffer, which reach the real stdout.
"""

import contextlib
import io
import sys
import threading

captured = {}
real_stdout = sys.stdout


def capture(name):
    buffer = io.StringIO()
    for step in range(5):
        with contextlib.redirect_stdout(buffer):
            print("captured", name, step)
            print("again", name, step)
    captured[name] = buffer


def speak(name):
    for step in range(20):
        print("spoken", name, step)


threads = [threading.Thread(target=capture, args=(name,)) for name in "ab"]
threads += [threading.Thread(target=speak, args=(name,)) for name in "xy"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("still redirected", sys.stdout is not real_stdout)
sys.stdout = real_stdout
for name, buffer in captured.items():
    print(name, buffer.getvalue().splitlines())
