"""The worker swallows its own failed assertion; what is wrong shows at the end."""

import threading

value = 0
both = threading.Barrier(2)
good = []


def work() -> None:
    global value
    try:
        seen = value
        value = seen + 1
        both.wait()
        assert value == 2
        good.append(1)
    except Exception:
        pass


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(good) == 2
