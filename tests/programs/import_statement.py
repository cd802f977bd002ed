"""`import` and `from ... import` statements in functions that several threads call.

Varies: which thread ran which module's body, how many met it already there.
"""

import sys
import threading

log = []


def use_slow(name):
    log.append((name, "slow", "pkg.slow" in sys.modules))
    import pkg.slow

    log.append((name, "slow made by", pkg.slow.made_by, pkg.slow.value))


def use_parts(name):
    from pkg import part_one, part_two
    from pkg.part_three import value

    log.append((name, "parts", part_one.value + part_two.value + value))


def work(name):
    if name in "ac":
        use_slow(name)
        use_parts(name)
    else:
        use_parts(name)
        use_slow(name)


threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

import pkg.order  # noqa: E402

for entry in log:
    print(*entry)
print("bodies", pkg.order.bodies)
