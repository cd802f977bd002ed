"""Programs with event loops, for `test_loops.py`: each is run under many schedules."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import selectors
import socket
import threading
import warnings


async def _add(counter: list[int]) -> None:
    value = counter[0]
    await asyncio.sleep(0)
    counter[0] = value + 1


def two_tasks() -> None:
    async def main() -> None:
        counter = [0]
        await asyncio.gather(_add(counter), _add(counter))

    asyncio.run(main())


def all_orders(seen: set[str]) -> None:
    """Three tasks of one step each."""
    order: list[str] = []

    async def step(name: str) -> None:
        order.append(name)

    async def main() -> None:
        await asyncio.gather(*(step(name) for name in "abc"))

    asyncio.run(main())
    seen.add("".join(order))


_LASTING = asyncio.new_event_loop()
atexit.register(_LASTING.close)


def beginnings(seen: set[str]) -> None:
    """Two tasks of two steps each, and the one that made them; the loop outlives the run."""
    order: list[str] = []

    async def steps(name: str) -> None:
        order.append(name)
        await asyncio.sleep(0)
        order.append(name.upper())

    async def main() -> None:
        tasks = [asyncio.create_task(steps(name)) for name in "ab"]
        await asyncio.sleep(0)
        order.append("m")
        await asyncio.gather(*tasks)

    _LASTING.run_until_complete(main())
    seen.add("".join(order))


def plain_callbacks(seen: set[str]) -> None:
    """They keep their order, but a task may come between them."""
    order: list[str] = []

    async def step() -> None:
        order.append("t")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(order.append, "1")
        task = asyncio.create_task(step())
        loop.call_soon(order.append, "2")
        await task
        await asyncio.sleep(0.01)

    asyncio.run(main())
    seen.add("".join(order))


def timers(seen: set[str]) -> None:
    """Two that come due one after the other, or together; a third is far away."""
    order: list[str] = []

    async def step(name: str, delay: float) -> None:
        await asyncio.sleep(delay)
        order.append(name)

    async def main() -> None:
        await asyncio.gather(step("a", 0.01), step("b", 0.1), step("z", 60))

    asyncio.run(main())
    seen.add("".join(order))


def late_timeout(seen: set[str]) -> None:
    """The timeout strikes although what is awaited is there."""

    async def main() -> None:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.01, future.set_result, None)
        try:
            async with asyncio.timeout(0.5):
                await future
        except TimeoutError:
            seen.add("late, but there" if not future.cancelled() else "late")
        else:
            seen.add("in time")

    asyncio.run(main())


def lost_wake_up() -> None:
    async def main() -> None:
        event = asyncio.Event()

        async def wait_for_it() -> None:
            await event.wait()

        await asyncio.create_task(wait_for_it(), name="waiter")

    asyncio.run(main())


def stubborn() -> None:
    """Does not end when it is told to; a coroutine that never began is left, too."""

    async def stay() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                asyncio.create_task(asyncio.sleep(5))  # noqa: RUF006

    async def main() -> None:
        tasks = [asyncio.create_task(stay()) for _ in range(2)]
        await asyncio.wait(tasks)

    asyncio.run(main())


def left_in_a_thread() -> None:
    """A loop that nobody stops, in a thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(asyncio.Event().wait(), loop).result()


def never_retrieved() -> None:
    async def fail() -> None:
        raise ValueError("lost")

    async def main() -> None:
        task = asyncio.create_task(fail())
        await asyncio.sleep(0.01)
        del task

    asyncio.run(main())


def cancelled_in_a_group() -> None:
    async def main() -> None:
        tasks = [asyncio.create_task(asyncio.sleep(1)) for _ in range(2)]
        group = asyncio.gather(*tasks)
        tasks[0].cancel()
        await asyncio.wait(tasks)
        del group

    asyncio.run(main())


def cancels_itself_in_a_pool() -> None:
    def give_up() -> None:
        raise concurrent.futures.CancelledError

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pool.submit(give_up)
        pool.submit(give_up)


def failing_callback() -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(int, "x")
        await asyncio.sleep(0.01)

    asyncio.run(main())


def own_handler() -> None:
    """Somebody looks at it: nothing is lost."""
    handled: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: handled.append(context["message"]))
        loop.call_soon(int, "x")
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert len(handled) == 1


def together_with_threads() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        called = asyncio.Event()
        thread = threading.Thread(target=loop.call_soon_threadsafe, args=(called.set,))
        async with asyncio.timeout(50), asyncio.TaskGroup() as group:
            job = group.create_task(asyncio.to_thread(sum, [1, 2]))
            thread.start()
            group.create_task(called.wait())
        thread.join()
        assert job.result() == 3
        assert await loop.run_in_executor(None, len, "four") == 4

    with asyncio.Runner() as runner:
        runner.run(main())


def from_another_thread() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    assert asyncio.run_coroutine_threadsafe(asyncio.sleep(0.1, "slept"), loop).result() == "slept"
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def other_selectors() -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.sleep(0.01), asyncio.to_thread(len, "x"))

    def make(kind: type[selectors.BaseSelector]) -> asyncio.AbstractEventLoop:
        return asyncio.SelectorEventLoop(kind())

    for kind in (selectors.PollSelector, selectors.SelectSelector):
        with asyncio.Runner(loop_factory=lambda kind=kind: make(kind)) as runner:
            runner.run(main())


def ready_together(seen: set[str]) -> None:
    """Two sockets have something to read at the same time."""
    order: list[str] = []
    pairs = [socket.socketpair() for _ in range(2)]

    def read(name: str, ours: socket.socket) -> None:
        order.append(name + ours.recv(1).decode())

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for name, (ours, theirs) in zip("ab", pairs, strict=True):
            ours.setblocking(False)
            loop.add_reader(ours, read, name, ours)
            theirs.send(b".")
        while len(order) < 2:
            await asyncio.sleep(0)
        for ours, _ in pairs:
            loop.remove_reader(ours)

    asyncio.run(main())
    for pair in pairs:
        for each in pair:
            each.close()
    seen.add("".join(order))


def from_outside(address: tuple[str, int]) -> None:
    """The other end is no thread of ours: the loop really waits."""

    async def main() -> None:
        reader, writer = await asyncio.open_connection(*address)
        assert await reader.read() == b"hello"
        writer.close()
        await writer.wait_closed()

    asyncio.run(main())


def current_loop() -> None:
    """Finds no loop that another run has left as the current one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        policy = asyncio.get_event_loop_policy()
        try:
            loop = policy.get_event_loop()
        except RuntimeError:
            loop = policy.new_event_loop()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        policy.set_event_loop(loop)


def goes_round_for_ever() -> None:
    async def main() -> None:
        while True:
            await asyncio.sleep(0)

    asyncio.run(main())


def calls_itself_again() -> None:
    """Until a task has run, which must not be put off for ever."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        done: list[int] = []

        def again() -> None:
            if not done:
                loop.call_soon(again)

        async def step() -> None:
            done.append(1)

        again()
        await asyncio.create_task(step())

    asyncio.run(main())
