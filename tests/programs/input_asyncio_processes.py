"""asyncio: child processes, signal handlers, executors and calls from other threads.

Varies: process ids and the order.
"""

import asyncio
import os
import signal
import threading
import time

log = []


async def run(name, command):
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_shell(command, stdout=pipe, stderr=pipe)
    output, errors = await child.communicate()
    log.append((name, child.returncode, output, errors))


def block(number):
    time.sleep(0.001)
    log.append(("executor", number))
    return number


def poke(loop, wanted):
    for number in range(3):
        loop.call_soon_threadsafe(log.append, ("called", number))
    loop.call_soon_threadsafe(wanted.set_result, "done")


async def main():
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, heard.set)
    blocks = [loop.run_in_executor(None, block, number) for number in range(3)]
    runs = [run("echo", "echo $$"), run("fails", "echo x >&2; exit 3"), run("slow", "sleep 0.01")]
    wanted = loop.create_future()
    poker = threading.Thread(target=poke, args=(loop, wanted))
    poker.start()
    results = await asyncio.gather(*blocks, *runs, wanted)
    os.kill(os.getpid(), signal.SIGUSR1)
    await heard.wait()
    poker.join()
    child = await asyncio.create_subprocess_exec("sleep", "5")
    child.kill()
    return results, await child.wait(), loop.remove_signal_handler(signal.SIGUSR1)


print(asyncio.run(main()))
for line in log:
    print(*line)
