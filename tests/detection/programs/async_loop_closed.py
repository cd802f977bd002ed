"""Call into a closed loop: a thread reports twice, the loop waits for the first report, and then
some time.

From: call_soon_threadsafe from threads that outlive the loop.
Needs: the sleep ends and the loop is closed between the two reports. RuntimeError in the thread.
"""

import asyncio
import threading


class Reports:
    def __init__(self, awaited: int) -> None:
        self.awaited = awaited
        self.count = 0
        self.enough = asyncio.Event()

    def add(self) -> None:
        self.count += 1
        if self.count == self.awaited:
            self.enough.set()


def run(awaited: int) -> None:
    threads: list[threading.Thread] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        reports = Reports(awaited)

        def work() -> None:
            loop.call_soon_threadsafe(reports.add)
            loop.call_soon_threadsafe(reports.add)

        threads.append(threading.Thread(target=work))
        threads[0].start()
        await reports.enough.wait()
        await asyncio.sleep(0.01)

    asyncio.run(main())
    threads[0].join()
    assert not threads[0].is_alive()


def buggy() -> None:
    run(awaited=1)


def safe() -> None:
    run(awaited=2)
