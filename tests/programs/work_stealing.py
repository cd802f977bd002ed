"""Work stealing: each thread has a deque, and takes from others when its own is empty.

Varies: who did what, the number of thefts.
"""

import collections
import random
import threading

THREADS = 4

deques = [collections.deque() for _ in range(THREADS)]
done = [[] for _ in range(THREADS)]
thefts = [0] * THREADS
left = 60
left_lock = threading.Lock()


def take(me, choose):
    try:
        return deques[me].pop()
    except IndexError:
        pass
    victim = choose.randrange(THREADS)
    try:
        task = deques[victim].popleft()
    except IndexError:
        return None
    thefts[me] += victim != me
    return task


def work(me):
    global left
    choose = random.Random(me)
    while left > 0:
        task = take(me, choose)
        if task is None:
            continue
        done[me].append(task)
        with left_lock:
            left -= 1


for task in range(60):
    deques[0].append(task)
threads = [threading.Thread(target=work, args=(me,)) for me in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for me, tasks in enumerate(done):
    print("thread", me, "did", len(tasks), "stole", thefts[me], tasks)
