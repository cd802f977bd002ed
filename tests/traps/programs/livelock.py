"""Two threads that each give way to the other; under some schedules, for ever."""

import threading

wants = [False, False]


def enter(me: int) -> None:
    wants[me] = True
    while wants[1 - me]:
        pass
    wants[me] = False


threads = [threading.Thread(target=enter, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
