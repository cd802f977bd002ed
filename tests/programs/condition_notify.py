"""Condition: waiters woken one at a time by notify().

Varies: who waited first, who was woken by which notify.
"""

import threading

condition = threading.Condition()
tokens = 0
log = []


def wait(name):
    global tokens
    with condition:
        while tokens == 0:
            log.append(f"{name} waits")
            condition.wait()
        tokens -= 1
        log.append(f"{name} took one, {tokens} left")


def give(name, count):
    global tokens
    for _ in range(count):
        with condition:
            tokens += 1
            log.append(f"{name} gives")
            condition.notify()


threads = [threading.Thread(target=wait, args=(f"w{n}",)) for n in range(6)]
threads += [threading.Thread(target=give, args=(f"g{n}", 3)) for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for line in log:
    print(line)
print("tokens", tokens)
