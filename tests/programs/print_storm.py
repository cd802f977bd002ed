"""Many threads print many lines, some with flush, some with several arguments.

Varies: the interleaving of the lines, and of pieces of lines.
"""

import threading


def work(name):
    for step in range(40):
        print("thread", name, "line", step, flush=step % 4 == 0)


threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
