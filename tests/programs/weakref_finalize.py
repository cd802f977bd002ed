"""weakref.finalize: some called in threads, some detached, the rest at exit in reverse order.

Varies: the order of registration by the threads, hence of the calls at exit.
"""

import threading
import weakref


class Resource:
    pass


kept = []
log = []


def close(name):
    log.append(name)
    print("close", name, "in", threading.current_thread().name)


def work(name):
    for step in range(5):
        resource = Resource()
        finalizer = weakref.finalize(resource, close, f"{name}{step}")
        if step % 2:
            kept.append((resource, finalizer))


threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

_, first = kept[0]
print("detached", first.detach() is not None, first.alive)
print("closed so far", log)
print("kept", len(kept))
