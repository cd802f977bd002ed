/* A watchman outside the program: an OS thread of ours that never runs Python code.
 *
 * It looks at the holder of the baton now and then. One that sleeps in the kernel while others
 * could run is stuck in a call nobody declared as blocking: the baton is taken from it, and the
 * recording says so. Signals that no point picked up are passed on. In a replay the schedule says
 * when that happened; there it only ends a run that threads beyond our control have locked up. */
#include "core.h"
#include <signal.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PERIOD_US = 25000, STUCK_PERIODS = 8, DEAF_PERIODS = 40, LOST_PERIODS = 400 };

static bool sleeps_in_kernel(pid_t tid)
{
    char state = proc_state(tid);
    return state == 'S' || state == 'D';
}

static void look_at_holder(void)
{
    static Thread *holder;
    static int64_t step;
    static uint64_t switches;
    static int periods;
    pthread_mutex_lock(&gate.mutex);
    Thread *now = gate.holder;
    bool moved = now == NULL || now != holder || gate_step() != step ||
                 gate.state->switches != switches || !sleeps_in_kernel(now->tid);
    periods = moved ? 0 : periods + 1;
    holder = now;
    step = gate_step();
    switches = gate.state->switches;
    if (periods >= STUCK_PERIODS && gate.active && gate_rescue(now)) {
        periods = 0;
    }
    pthread_mutex_unlock(&gate.mutex);
}

static void look_at_epoch(void)
{
    pthread_mutex_lock(&gate.mutex);
    epoch_look();
    pthread_mutex_unlock(&gate.mutex);
}

static void look_for_signals(void)
{
    static int periods;
    periods = atomic_load(&gate.signals_pending) == 0 ? 0 : periods + 1;
    if (periods > 0) {
        gate_take_interrupts(); /* one that came just before its thread was parked */
    }
    if (periods >= DEAF_PERIODS) {
        pthread_mutex_lock(&gate.mutex);
        signals_give_up_waiting();
        pthread_mutex_unlock(&gate.mutex);
        periods = 0;
    }
}

/* Nothing orders what a foreign thread does: it may wait for a lock whose owner may only go on
 * after the thread that waits for the foreign one. */
static void look_for_lost_replay(void)
{
    static uint64_t switches;
    static int periods;
    pthread_mutex_lock(&gate.mutex);
    Thread *now = gate.holder;
    bool waits = gate.active && gate.foreign > 0 && now != NULL && now->away &&
                 gate.state->switches == switches && sleeps_in_kernel(now->tid);
    periods = waits ? periods + 1 : 0;
    switches = gate.state->switches;
    if (periods >= LOST_PERIODS) {
        replay_lost(now);
    }
    pthread_mutex_unlock(&gate.mutex);
}

static pthread_t thread;
static _Atomic int32_t is_stopped;

/* False if the patrol is to end. */
static bool is_a_period_over(void)
{
    int64_t until_ns = real_ns() + PERIOD_US * 1000LL;
    struct timespec deadline = {until_ns / 1000000000, until_ns % 1000000000};
    int error;
    fork_park(&is_stopped, &deadline, &error);
    return atomic_load(&is_stopped) == 0;
}

static void *patrol(void *unused)
{
    (void)unused;
    while (is_a_period_over()) {
        if (atomic_load(&epoch_is_looked_at)) {
            continue; /* the holder of the baton sleeps, and is not stuck */
        }
        if (gate.active && gate.is_parallel) {
            parallel_look_for_deadlock();
        }
        else if (gate.active && gate.settings.mode == MODE_RECORD) {
            search_look_for_stall();
            look_at_holder();
            look_at_epoch();
            look_for_signals();
        }
        else if (gate.active) {
            look_for_lost_replay();
        }
    }
    return NULL;
}

int patrol_start(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    atomic_store(&is_stopped, 0);
    int error = pthread_create(&thread, &attributes, patrol, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* While the program forks: Python warns of threads that it can count, and ours is none of its. */
void patrol_stop(void)
{
    atomic_store(&is_stopped, 1);
    syscall(SYS_futex, &is_stopped, FUTEX_WAKE_PRIVATE, 1);
    pthread_join(thread, NULL);
}
