"""The programs of the detection suite: what each is, and how it fails.

Owns the list of `programs/`. Each file there has `buggy()`, which fails under some interleaving
in the way that is said here, and `safe()`, its twin, which fails under none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["assertion", "exception", "deadlock"]

DIRECTORY = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Program:
    name: str
    kind: Kind  # how buggy() fails; a lost wake-up is a deadlock, as all wait for ever
    threads: int  # of safe(), with the main thread
    operations: int  # of all threads of safe(), roughly: locks, queues, variables that change
    is_small: bool = False  # safe() starts at most 3 threads with at most 6 operations each
    asyncio: bool = False

    @property
    def group(self) -> str:
        return self.name.partition("_")[0]

    @property
    def path(self) -> Path:
        return DIRECTORY / f"{self.name}.py"


PROGRAMS = [
    # the IBM Concurrency Testing Repository, as in the evaluation of Ditto
    Program("ibm_account", "assertion", 3, 16),
    Program("ibm_airline", "assertion", 4, 13, is_small=True),
    Program("ibm_booking", "assertion", 3, 10, is_small=True),
    Program("ibm_bounded_buffer", "deadlock", 4, 24),
    Program("ibm_bubble_sort", "assertion", 3, 24),
    Program("ibm_linked_list", "assertion", 3, 25),
    Program("ibm_liveness", "deadlock", 3, 20),
    Program("ibm_loader", "assertion", 3, 23),
    Program("ibm_lottery", "assertion", 4, 18, is_small=True),
    Program("ibm_manager", "assertion", 3, 14, is_small=True),
    Program("ibm_merge_sort", "assertion", 3, 39),
    Program("ibm_pingpong", "exception", 3, 9, is_small=True),
    Program("ibm_piper", "assertion", 4, 39),
    Program("ibm_producer_consumer", "deadlock", 4, 42),
    Program("ibm_shop", "assertion", 3, 11, is_small=True),
    # the litmus programs of CDSchecker, as in the evaluation of tsan11rec
    Program("litmus_barrier", "deadlock", 3, 40),
    Program("litmus_chase_lev_deque", "assertion", 3, 18),
    Program("litmus_dekker", "assertion", 3, 14),
    Program("litmus_linux_rwlock", "assertion", 3, 21),
    Program("litmus_mcs_lock", "deadlock", 3, 24),
    Program("litmus_mpmc_queue", "assertion", 4, 30),
    Program("litmus_ms_queue", "assertion", 3, 25),
    # SCTBench
    Program("sct_account", "assertion", 4, 12, is_small=True),
    Program("sct_aget", "assertion", 4, 20),
    Program("sct_bluetooth_driver", "assertion", 3, 20),
    Program("sct_carter", "deadlock", 3, 24),
    Program("sct_circular_buffer", "assertion", 3, 22),
    Program("sct_deadlock01", "deadlock", 3, 12, is_small=True),
    Program("sct_din_phil", "deadlock", 4, 24),
    Program("sct_fsbench", "assertion", 3, 17),
    Program("sct_lazy01", "assertion", 4, 15, is_small=True),
    Program("sct_pbzip2", "exception", 2, 20),
    Program("sct_queue", "assertion", 3, 23),
    Program("sct_reorder", "assertion", 4, 13, is_small=True),
    Program("sct_stack", "exception", 4, 9, is_small=True),
    Program("sct_streamcluster", "assertion", 3, 18),
    Program("sct_stringbuffer", "exception", 3, 16),
    Program("sct_sync01", "deadlock", 3, 9, is_small=True),
    Program("sct_sync02", "deadlock", 4, 20),
    Program("sct_token_ring", "assertion", 4, 24),
    Program("sct_twostage", "assertion", 3, 13),
    Program("sct_work_stealing_queue", "assertion", 3, 26),
    Program("sct_wronglock", "assertion", 4, 12, is_small=True),
    # what Python programs do
    Program("py_closure_counter", "assertion", 4, 12, is_small=True),
    Program("py_dict_check_then_act", "assertion", 3, 11, is_small=True),
    Program("py_double_checked_locking", "assertion", 3, 8),
    Program("py_event_cleared_early", "deadlock", 3, 10, is_small=True),
    Program("py_future_set_twice", "exception", 3, 7, is_small=True),
    Program("py_global_counter", "assertion", 3, 10, is_small=True),
    Program("py_is_alive", "deadlock", 3, 32),
    Program("py_iterate_while_changed", "exception", 3, 6, is_small=True),
    Program("py_lru_cache", "exception", 3, 10, is_small=True),
    Program("py_pool_nested_submit", "deadlock", 3, 12),
    Program("py_queue_empty", "exception", 3, 6, is_small=True),
    Program("py_rlock_wait", "assertion", 4, 18),
    Program("py_rwlock_count", "deadlock", 4, 22),
    Program("py_semaphore_leak", "deadlock", 4, 8, is_small=True),
    Program("py_setdefault", "assertion", 3, 4, is_small=True),
    Program("py_shared_generator", "exception", 3, 14),
    Program("py_singleton", "assertion", 3, 18),
    Program("py_started_flag", "exception", 3, 6, is_small=True),
    Program("py_thread_local_leak", "assertion", 4, 9),
    Program("py_three_locks", "deadlock", 4, 24),
    Program("py_timeout_and_result", "assertion", 3, 7, is_small=True),
    Program("py_wait_without_loop", "exception", 4, 19),
    # asyncio
    Program("async_cached_resource", "assertion", 1, 18, asyncio=True),
    Program("async_check_await_act", "assertion", 1, 10, asyncio=True),
    Program("async_event_pulse", "deadlock", 1, 5, asyncio=True),
    Program("async_executor_counter", "assertion", 3, 7, asyncio=True),
    Program("async_lock_not_held", "assertion", 1, 16, asyncio=True),
    Program("async_lock_order", "deadlock", 1, 23, asyncio=True),
    Program("async_loop_closed", "exception", 2, 13, asyncio=True),
    Program("async_lost_cancellation", "deadlock", 1, 7, asyncio=True),
    Program("async_lost_notify", "deadlock", 1, 27, asyncio=True),
    Program("async_queue_sentinel", "assertion", 1, 18, asyncio=True),
    Program("async_shielded_timeout", "assertion", 1, 6, asyncio=True),
    Program("async_task_order", "exception", 1, 11, asyncio=True),
]
