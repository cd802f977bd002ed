"""Two modules that import each other, imported by threads from both ends at once.

Varies: which came first; the import locks' deadlock avoidance may hand out a half-made module.
"""

import importlib
import threading

log = []
start = threading.Barrier(4)


def load(name, module):
    start.wait()
    try:
        loaded = importlib.import_module(module)
        log.append((name, module, hasattr(loaded, "finished"), loaded.partner_was_finished))
    except (ImportError, AttributeError) as error:
        log.append((name, module, type(error).__name__, str(error).split(" (")[0]))


modules = ["pkg.left", "pkg.right", "pkg.left", "pkg.right"]
threads = [
    threading.Thread(target=load, args=(n, module), name=f"t{n}")
    for n, module in enumerate(modules)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

import pkg.order  # noqa: E402

for entry in log:
    print(*entry)
print("bodies", pkg.order.bodies)
