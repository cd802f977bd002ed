"""Travelling: how long it takes to open a long recording at its end, to go one step back there, and
to copy a process, by the size of its heap.

    python benchmarks/travel.py --ticks 10000000 --rounds 5

Prints ratios to a replay of the whole where there is one; times are the best of several.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from reenact import strategies
from reenact.debug.traveller import Move, Traveller
from reenact.engine import launch, record, replay
from reenact.recordings.reader import Recording

LOOP = """
import threading
total = [0]
def work(count):
    for number in range(count):
        total[0] += number
threads = [threading.Thread(target=work, args=({count},)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
HEAP = """
import threading
kept = [bytearray(1 << 20) for _ in range({megabytes})]
for each in kept:
    each[::4096] = b"x" * 256
event = threading.Event()
threads = [threading.Thread(target=event.wait) for _ in range({threads})]
for thread in threads:
    thread.start()
for number in range(1000):
    pass
event.set()
"""


def recorded(text: str, folder: Path) -> Recording:
    script, path = folder / "program.py", folder / "run.reenact"
    script.write_text(text)
    known = strategies.describe("queue")
    choices = launch.Choices(known.name, known.kind, 0, known.slice)
    os.chdir(folder)
    record.record(launch.Program("script", str(script), ()), choices, path)
    return Recording.open(path)


def took(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def long_recording(ticks: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recording = recorded(LOOP.format(count=ticks // 2), Path(folder))
        whole = min(took(lambda: replay.replay(recording)) for _ in range(rounds))
        opening, back, kept = [], [], 0
        for _ in range(rounds):
            with Traveller(recording) as traveller:
                opening.append(took(traveller.go_to_end))
                traveller.go_to(recording.last_step - 50)
                thread = traveller.stop.thread
                kept = len(traveller.checkpoints)
                move = partial(traveller.backward, Move(thread=thread))
                back += [took(move) for _ in range(5)]
        print(f"{recording.last_step} steps, {kept} copies kept")
        print(f"replay: {whole:.2f} s")
        print(f"opening at the end: {min(opening):.2f} s, {min(opening) / whole:.2f} replays")
        shown = [f"{each * 1e3:.0f}" for each in sorted(back)]
        print(f"reverse-step: {shown[0]} ms, median {shown[len(back) // 2]}, most {shown[-1]}")


def copies(megabytes: int, threads: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = HEAP.format(megabytes=megabytes, threads=threads)
        recording = recorded(text, Path(folder))
        with Traveller(recording) as traveller:
            process = traveller._start()
            process.run(recording.last_step - 500)
            times = []
            for _ in range(rounds * 4):
                began = time.perf_counter()
                copied = process.copy()
                times.append(time.perf_counter() - began)
                assert copied is not None, process.refusal
                copied.close()
            process.close()
        print(f"a copy: {megabytes} MB, {threads} threads: {min(times) * 1e3:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for megabytes, threads in ((1, 2), (1, 32), (100, 2), (500, 2)):
        copies(megabytes, threads, options.rounds)
    long_recording(options.ticks, options.rounds)


if __name__ == "__main__":
    main()
