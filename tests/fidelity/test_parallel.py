"""Programs recorded by the parallel engine replay just as they were.

On the default version with `ditto` each second of them, with `sync` each second that races and some
others, with `light` a few; on the others each eighth. A few are replayed in parallel. Where there
is a GIL a replay may take a few tries, as one of some hundreds does on a busy machine.
`python -m tests.fidelity.parallel` has them all, more often.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.free_threaded import HAS_GIL
from tests.versions import IS_DEFAULT

from .generated import check, source
from .harness import Pool, Variant, cycle, patterns, programs

CASES = {program.name: program for program in [*programs(), *patterns()]}
# With a GIL nothing is left out: hints say what code without sites did. Without one, now and then:
LEFT_OUT = {
    # where others were is not known if they come to no point in time
    "thread_frames",
}
if HAS_GIL:
    LEFT_OUT = set()
# without a race: each by another kind of synchronisation or input
FOR_SYNC = (
    *("condition_notify", "deadlock_two_locks", "input_sockets_pair", "input_subprocess_run"),
    *("print_storm", "queue_pipeline"),
)
# Without a GIL, `sync` takes note of accesses in code that is new to a thread, and holds those that
# know theirs: each of something that only this puts in order
COLD = {
    "daemon_loop": "threads in loops that they know, at which main looks",
    "exit_os_exit": "the same, at the end",
    "id_set": "hashes of addresses",
    "import_lazy": "imports",
    "input_signals_storm": "handlers that look at threads that wait",
    "logging_stream": "more code than one thread knows",
    "race_shared_random": "functions of C code",
    "race_spin_flag": "loops that wait",
}
if HAS_GIL:
    COLD = {}
AT_ONCE = ("race_counter", "race_list", "race_attribute", "race_nonlocal", "lock_order")
FOR_LIGHT = (
    *("race_counter", "race_list", "race_dict", "race_attribute", "race_after_lock"),
    "ditto_microbenchmark",
)
EVERY = 2 if IS_DEFAULT else 8
TURN = sys.version_info.minor
# Without a GIL, each of something that only sites or the core's own functions put in order
ALWAYS = {
    "asyncio_threadsafe": "bound methods of containers, called by C code",
    "excepthook_default": "imports by C code, linecache, descriptors of files that are passed",
    "boundary_callbacks": "numbers of what is handed to the other side of a boundary",
    "id_set": "hashes of addresses",
    "id_order": "id and representations",
    "print_redirected": "where print looks up where it prints to",
    "race_cached_property": "dictionaries of objects",
    "race_defaultdict": "reads that write",
    "race_deque": "methods of a class of C code that lies on the heap",
    "race_dict_python_keys": "lookups without a lock",
    "race_generator": "generators",
    "race_itertools": "counters",
    "race_weak_set": "steps over sets, and deaths",
    "weakref_finalizers": "finalizers and callbacks",
}
if HAS_GIL:
    ALWAYS = {}
FOR_DITTO = tuple(
    name
    for number, name in enumerate(sorted(CASES))
    if (number % EVERY == TURN % EVERY or name in ALWAYS) and name not in LEFT_OUT
)
RACING = [name for name in CASES if name.startswith(("race_", "ibm_"))][::EVERY]
TRIES = 20 if HAS_GIL else 1
# Those that poll read attributes of `threading`, in which there are no sites
SEEDS = [seed for seed in range(60) if HAS_GIL or source(seed).count("poll(") == 1]
GENERATED = SEEDS[: 10 if IS_DEFAULT else 3]


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    pool = Pool(1)
    yield pool
    pool.shutdown(cancel_futures=True)


def check_replays(pool: Pool, name: str, variant: Variant, replays: int = 1) -> None:
    complaints = pool.submit(cycle, CASES[name], variant, replays).result().complaints
    assert not complaints, "\n".join(complaints)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", FOR_SYNC[:: 1 if IS_DEFAULT else 4])
def test_synchronisation(name: str, pool: Pool) -> None:
    check_replays(pool, name, Variant("queue", order="sync"))


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", [*RACING, *(name for name in COLD if name not in RACING)])
def test_races_are_found(name: str, pool: Pool) -> None:
    check_replays(pool, name, Variant("queue", order="sync", tries=20))


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", FOR_DITTO)
def test_accesses(name: str, pool: Pool) -> None:
    check_replays(pool, name, Variant("queue", order="ditto", tries=TRIES))


@pytest.mark.skipif(not IS_DEFAULT, reason="on the default version")
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", AT_ONCE)
def test_replays_in_parallel(name: str, pool: Pool) -> None:
    check_replays(pool, name, Variant("queue", order="ditto", in_parallel=True), 2)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", FOR_LIGHT[:: 1 if IS_DEFAULT else 4])
def test_flow(name: str, pool: Pool) -> None:
    check_replays(pool, name, Variant("queue", order="light", tries=TRIES))


@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", GENERATED)
def test_generated_programs(seed: int, pool: Pool) -> None:
    complaints = pool.submit(check, seed, "ditto").result()
    assert not complaints, "\n".join(complaints)


def test_what_is_named_is_there() -> None:
    named = {*FOR_SYNC, *AT_ONCE, *FOR_LIGHT, *ALWAYS, *COLD}
    assert LEFT_OUT | named <= CASES.keys()
