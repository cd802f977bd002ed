# reenact-test: deadlock=yes
"""Main joins a thread that waits forever on an Event nobody sets.

Never ends, though no lock is held by anybody.
"""

import threading

never = threading.Event()


def work():
    print("waiting", flush=True)
    never.wait()
    print("never printed")


thread = threading.Thread(target=work, name="waiter")
thread.start()
thread.join()
print("never printed")
