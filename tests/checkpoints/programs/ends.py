"""Ends in a way of its own: ends.py HOW."""

import ctypes
import os
import signal
import sys
import threading

HOW = sys.argv[1]
done = []


def work():
    for number in range(60):
        done.append(number)


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if HOW == "daemon":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
elif HOW == "import":
    import no_such_module  # noqa: F401
elif HOW == "own trace":
    lines = []
    sys.settrace(lambda frame, event, argument: lines.append(frame.f_lineno))
    work()
    sys.settrace(None)
    print(len(lines))
elif HOW == "many":
    started = threading.Barrier(301)
    for _ in range(300):
        threading.Thread(target=started.wait).start()
    started.wait()
elif HOW == "exit":
    os._exit(3)
elif HOW == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif HOW == "fault":
    ctypes.string_at(0)
elif HOW == "deadlock":
    threading.Thread(target=threading.Lock().__enter__).start()
    lock = threading.Lock()
    with lock, lock:
        pass
