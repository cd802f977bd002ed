# reenact-test: deadlock=yes
"""Two locks taken in opposite order; a Barrier makes sure that both first ones are held.

Never ends: threads 'one' and 'two' wait for each other, main for 'one'.
"""

import threading

left = threading.Lock()
right = threading.Lock()
both_hold = threading.Barrier(2)


def work(first, second):
    with first:
        both_hold.wait()
        with second:
            print("never printed")


one = threading.Thread(target=work, args=(left, right), name="one")
two = threading.Thread(target=work, args=(right, left), name="two")
one.start()
two.start()
print("started", flush=True)
one.join()
