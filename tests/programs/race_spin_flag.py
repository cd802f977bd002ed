"""Spin-wait on plain flags: no lock, no call that blocks, so only preemption makes progress.

Varies: the number of spins.
"""

import threading

turn = 0
spins = [0, 0, 0]
trace = []


def work(name):
    global turn
    for lap in range(4):
        while turn % 3 != name:
            spins[name] += 1
        trace.append((name, lap))
        turn += 1


threads = [threading.Thread(target=work, args=(name,)) for name in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("trace", trace)
print("spins", spins)
