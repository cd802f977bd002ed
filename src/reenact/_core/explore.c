/* Runs of a search: the same program again and again in one process, each with other choices.
 *
 * open() puts the calling thread under the gate, without a recording. begin() and end() enclose a
 * run: in between search.c chooses, time is virtual, and what happened is noted in memory that
 * forked processes share. A run that cannot go on (deadlock, step limit, nothing new) is abandoned:
 * every thread of it gets an exception wherever it waits or comes to a point, until all have
 * ended. Threads that were there before the run began are left alone. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_NS = 15000000, EAGER_READS = 1000, AGAIN = 1000, CLOCKS = 16 };
enum { SECOND_NS = 1000000000, LEAVING_TRIES = 50 };
enum { SETTLE_STEPS = 2000 };

static PyObject *abandoned; /* the exception */
static int32_t *prefix;
static Switch *switches;
static int64_t clock_bases[CLOCKS], begun_ns;
static uint32_t clock_reads;
static int32_t children_before;
static Object quiet_object = {.kind = OBJECT_QUIET};

/* ---- what the gate asks ---- */

void search_abort(enum RunReason reason)
{
    if (search.aborting) {
        return;
    }
    if (log_is_on()) { /* a recording ends here, and so does its replay */
        _exit(EXIT_STEP_LIMIT);
    }
    if (reason == RUN_IN_DEADLOCK) {
        search_note_blocked();
    }
    run->reason = reason;
    search.aborting = true;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->index >= search.first_thread) {
            search_free(thread);
        }
    }
    search_free(&gate.slots[search.root]);
}

static bool is_abandoned(const Thread *thread)
{
    return search.aborting && thread->deferring == 0 && !thread->explored.is_spared &&
           (thread->index >= search.first_thread || thread->index == search.root);
}

void search_tell(void)
{
    PyObject *hook = search.has_told ? NULL : search.hook;
    search.has_told = true;
    if (hook != NULL) {
        Thread *self = go_quiet();
        PyObject *result = PyObject_CallFunction(hook, "i", (int)run->reason);
        if (result == NULL) {
            PyErr_WriteUnraisable(hook);
        }
        Py_XDECREF(result);
        end_quiet(self);
    }
}

/* -1 with the exception set if the run was given up. A thread gets it once, in order to come to
 * an end, and again if it waits, or runs on for long. */
int search_raise(Thread *thread, bool waits)
{
    if (!gate.exploring || !is_abandoned(thread)) {
        return 0;
    }
    search_tell();
    search.aborted_points++;
    if (thread->explored.raised++ % AGAIN != 0 && !waits) {
        return 0;
    }
    PyErr_SetNone(abandoned);
    return -1;
}

void search_uncontrolled(const char *text)
{
    if (gate.exploring && !run->is_uncontrolled) {
        run->is_uncontrolled = true;
        strncpy(run->note, text, sizeof run->note - 1);
    }
}

/* Each look at the clock takes a microsecond; a program that does nothing else is let off. */
int64_t search_clock(int64_t clock)
{
    int64_t pace = clock_reads++ < EAGER_READS ? 1000 : 1000 * (int64_t)(clock_reads / EAGER_READS);
    search.clock_ns += pace;
    return clock_bases[clock & (CLOCKS - 1)] + search.clock_ns - begun_ns;
}

/* Nobody runs and somebody is in an outside call: after a while deadlines pass all the same. */
void search_idle(void)
{
    pthread_mutex_lock(&gate.mutex);
    Thread *earliest = gate.holder == NULL ? search_earliest_timer() : NULL;
    if (earliest != NULL && real_ns() - gate.idle_since_ns >= IDLE_NS) {
        search_expire(earliest);
        gate_resume();
    }
    pthread_mutex_unlock(&gate.mutex);
}

/* Threads wait for the outside, where nothing happens any more: a deadlock as well, if others of
 * the same program took far less time. */
void search_look_for_stall(void)
{
    pthread_mutex_lock(&gate.mutex);
    bool stalls = gate.exploring && gate.holder == NULL && gate.timed == 0 && !search.aborting &&
                  search.stall_ns > 0 && real_ns() - gate.idle_since_ns > search.stall_ns;
    if (stalls && log_is_on()) {
        log_entry(ENTRY_END, ENDED_IN_DEADLOCK);
        report_deadlock();
    }
    if (stalls) {
        search_abort(RUN_IN_DEADLOCK);
        gate_resume();
    }
    pthread_mutex_unlock(&gate.mutex);
}

/* add_switch(thread, position, to, kind): one more, after those that the run was given */
static PyObject *add_switch(PyObject *module, PyObject *args)
{
    (void)module;
    Switch added;
    if (!PyArg_ParseTuple(args, "iIii", &added.thread, &added.position, &added.to, &added.kind)) {
        return NULL;
    }
    if (!gate.exploring || !search.follows) {
        PyErr_SetString(PyExc_RuntimeError, "no run is under way that follows switches");
        return NULL;
    }
    Switch *grown = realloc(switches, (search.switch_count + 2) * sizeof *grown);
    if (grown == NULL) {
        return PyErr_NoMemory();
    }
    grown[search.switch_count++] = added;
    search.switches = switches = grown;
    Py_RETURN_NONE;
}

/* expect(more): while more switches are to come, no thread is made to give way for having run long
 */
static PyObject *expect(PyObject *module, PyObject *more)
{
    (void)module;
    search.expects = more == Py_True;
    Py_RETURN_NONE;
}

/* ---- opening and closing ---- */

/* share(anew): memory for what runs leave, before anything is forked; anew in a forked process that
 * is to have its own */
static PyObject *share(PyObject *module, PyObject *anew)
{
    (void)module;
    if (run == NULL || PyObject_IsTrue(anew) == 1) {
        void *at = mmap(NULL, sizeof(Run), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) {
            return PyErr_NoMemory();
        }
        run = at;
    }
    Py_RETURN_NONE;
}

/* open(exception): the calling thread, and all that it starts, are under the gate */
static PyObject *open_gate(PyObject *module, PyObject *exception)
{
    (void)module;
    if (gate.active) {
        PyErr_SetString(PyExc_RuntimeError, "this process is under the gate already");
        return NULL;
    }
    Py_XSETREF(abandoned, Py_NewRef(exception));
    gate.pid = getpid();
    gate.settings = (Settings){.mode = MODE_RECORD, .strategy = STRATEGY_QUEUE, .slice = 5000};
    gate.choose_at_operations = false;
    if (state_open_anonymously() < 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    objects_begin();
    gate.run_first = gate.run_last = NULL;
    gate.outside = gate.timed = gate.foreign = 0;
    gate_know_bystanders();
    if (collect_take_over() < 0) {
        return NULL;
    }
    Thread *thread = state_new_slot();
    thread->parent = -1;
    threads_bind(thread);
    gate_adopt_main(thread);
    if (patrol_start() != 0) {
        return PyErr_NoMemory();
    }
    gate.active = true;
    Py_RETURN_NONE;
}

/* close(): parked threads are let go, and run as they will */
static PyObject *shut_gate(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (gate.active && me != NULL) {
        patrol_stop();
        gate_close(true);
        collect_give_back();
        me = NULL;
    }
    Py_RETURN_NONE;
}

/* ---- runs ---- */

static bool copy_bytes(PyObject *bytes, void **copy, size_t *count, size_t size)
{
    size_t length = (size_t)PyBytes_GET_SIZE(bytes);
    *copy = realloc(*copy, length + size);
    if (*copy == NULL) {
        return false;
    }
    memcpy(*copy, PyBytes_AS_STRING(bytes), length);
    *count = length / size;
    return true;
}

static void place_changes(int depth, int64_t length)
{
    int64_t changes = search.kind == SEARCH_PCT ? depth - 1 : depth;
    changes = changes > MOST_CHANGES ? MOST_CHANGES : changes;
    for (int64_t i = 0; i < changes && length > 0; i++) {
        search.changes[search.change_count++] = search_random() % (uint64_t)length;
    }
}

static void begin_threads(void)
{
    search.first_thread = (int32_t)gate.state->threads;
    search.root = me->index;
    children_before = me->children;
    clocks_reset();
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        thread->explored = (Explored){.identity = i + 1, .hash = i + 1};
        if (thread->status != ENDED) {
            clocks_begin(thread, thread);
        }
    }
}

static void begin_time(bool is_virtual)
{
    clock_reads = 0;
    gate.is_virtual = is_virtual;
    if (clock_bases[0] == 0) {
        for (int i = 0; i < CLOCKS; i++) {
            struct timespec now;
            clock_bases[i] =
                clock_gettime(i, &now) == 0 ? now.tv_sec * 1000000000LL + now.tv_nsec : 0;
        }
    }
    begun_ns = search.clock_ns = clock_bases[CLOCK_MONOTONIC];
}

/* Those that were let go in earlier runs and have come back get a while to end. */
static void await_leavers(void)
{
    for (int i = 0; i < LEAVING_TRIES && threads_are_leaving(); i++) {
        PyThreadState *tstate = PyEval_SaveThread();
        usleep(1000);
        PyEval_RestoreThread(tstate);
    }
}

/* begin(kind, seed, depth, length, limit, patience_ns, points, prefix, asleep, switches,
 * racy_limit, is_virtual, hook, stall_ns) */
static PyObject *begin_run(PyObject *module, PyObject *args)
{
    (void)module;
    int kind, depth, points, is_virtual;
    unsigned long long seed, asleep;
    long long length, limit, patience_ns, racy_limit, stall_ns;
    PyObject *given_prefix, *given_switches, *hook;
    if (!PyArg_ParseTuple(args, "iKiLLLiO!KOLpOL", &kind, &seed, &depth, &length, &limit,
                          &patience_ns, &points, &PyBytes_Type, &given_prefix, &asleep,
                          &given_switches, &racy_limit, &is_virtual, &hook, &stall_ns)) {
        return NULL;
    }
    if (run == NULL || !gate.active || me == NULL || gate.exploring) {
        PyErr_SetString(PyExc_RuntimeError, "no run can begin now");
        return NULL;
    }
    await_leavers();
    PyObject *old_hook = search.hook;
    uint64_t number = search.number + 1;
    search = (Search){.kind = (enum SearchKind)kind,
                      .random = seed,
                      .number = number,
                      .limit = limit,
                      .patience_ns = patience_ns,
                      .stall_ns = stall_ns,
                      .asleep = asleep,
                      .at_ticks = points == 1,
                      .at_accesses = points == 2,
                      .follows = PyBytes_Check(given_switches),
                      .racy_limit = racy_limit < 0 ? run->racy_count : (uint32_t)racy_limit,
                      .hook = hook == Py_None ? NULL : Py_NewRef(hook)};
    Py_XDECREF(old_hook);
    if (!copy_bytes(given_prefix, (void **)&prefix, &search.prefix_size, sizeof *prefix) ||
        (search.follows &&
         !copy_bytes(given_switches, (void **)&switches, &search.switch_count, sizeof *switches))) {
        return PyErr_NoMemory();
    }
    search.prefix = prefix;
    search.switches = switches;
    place_changes(depth, length);
    run->reason = run->threads = run->is_uncontrolled = 0;
    run->timed_waits = 0;
    run->useful = run->finished = 0;
    run->steps = run->choices = run->fingerprint = run->preemptions = 0;
    run->note[0] = '\0';
    if (!log_is_on()) {
        collect_if_due();
    }
    objects_begin();
    points_begin();
    begin_threads();
    begin_time(is_virtual);
    signals_begin_run();
    variables_begin();
    if (gate.settings.mode == MODE_RECORD) { /* a replay does as it was recorded */
        gate_explore(true);
    }
    Py_RETURN_NONE;
}

static uint64_t fingerprint(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        const Explored *explored = &gate.slots[i].explored;
        sum += (explored->hash ^ explored->identity) * 0x9E3779B97F4A7C15ULL;
    }
    return sum;
}

/* settle(): lets the other threads of the run go on until none of them can; false if that does not
 * come to an end. Deadlines do not pass meanwhile. */
static PyObject *settle(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Thread *thread = gate_me();
    if (thread == NULL || !gate.exploring || search.aborting) {
        Py_RETURN_TRUE;
    }
    uint64_t before = run->steps;
    search.is_settling = true;
    search.settle_until = before + SETTLE_STEPS;
    enum Waited waited = gate_wait(thread, OP_YIELD, &quiet_object, -1);
    search.is_settling = false;
    if (waited == WAIT_FAILED) {
        return NULL;
    }
    return PyBool_FromLong(run->steps < search.settle_until);
}

static Thread *somebody_left(void)
{
    for (uint32_t i = (uint32_t)search.first_thread; i < gate.state->threads; i++) {
        if (gate.slots[i].status != ENDED) {
            return &gate.slots[i];
        }
    }
    return NULL;
}

/* abandon(patience): threads of the run that are left are ended; false if some do not end within so
 * many whiles in which nobody ran, since somebody is in an outside call */
static PyObject *abandon(PyObject *module, PyObject *patience)
{
    (void)module;
    long most_tries = PyLong_AsLong(patience);
    if (most_tries < 0) {
        PyErr_SetString(PyExc_ValueError, "abandon(patience)");
        return NULL;
    }
    Thread *thread = gate_me();
    if (thread == NULL || !gate.exploring) {
        Py_RETURN_TRUE;
    }
    thread->explored.is_spared = true;
    search.has_told = true;
    pthread_mutex_lock(&gate.mutex);
    enum RunReason reason = (enum RunReason)run->reason;
    bool was_aborting = search.aborting;
    search_abort(RUN_COMPLETE);
    if (was_aborting || run->finished) {
        run->reason = reason;
    }
    pthread_mutex_unlock(&gate.mutex);
    Thread *left;
    long tries = 0;
    while ((left = somebody_left()) != NULL && search.aborted_points < 100000 &&
           tries < most_tries) {
        if (gate_wait(thread, OP_JOIN, &left->done, now_ns() + SECOND_NS) == WAIT_FAILED) {
            return NULL;
        }
        tries += left->status != ENDED;
    }
    thread->explored.is_spared = false; /* what is still tidied up must not wait for anything */
    return PyBool_FromLong(left == NULL);
}

/* let_go(): threads of the run that could not be ended since they wait in an outside call are none
 * of ours from now on; how many there are */
static PyObject *let_go(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    long count = 0;
    for (uint32_t i = (uint32_t)search.first_thread; gate.exploring && i < gate.state->threads;
         i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == OUTSIDE && thread->inside > 0) {
            threads_let_go(thread);
            count++;
        }
    }
    return PyLong_FromLong(count);
}

/* finish_runs(on) */
static PyObject *finish_runs(PyObject *module, PyObject *on)
{
    (void)module;
    search_finishes = on == Py_True;
    Py_RETURN_NONE;
}

/* is_clear(): no thread of the run is left */
static PyObject *is_clear(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(!gate.exploring || somebody_left() == NULL);
}

/* end(): back to first come, first served, and the system's time */
static PyObject *end_run(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (gate.settings.mode == MODE_REPLAY) {
        return view_result();
    }
    if (!gate.exploring) {
        PyErr_SetString(PyExc_RuntimeError, "no run is under way");
        return NULL;
    }
    run->threads = gate.state->threads - (uint32_t)search.first_thread;
    run->fingerprint = fingerprint();
    gate_explore(false);
    if (somebody_left() == NULL) {
        state_forget_slots((uint32_t)search.first_thread);
        me->children = children_before;
    }
    return view_result();
}

/* leave(): ends a run in the midst of a recording, which keeps the threads that there were */
static PyObject *leave_run(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (gate.exploring) {
        gate_explore(false);
    }
    gate.is_virtual = false; /* in a replay, too, which does not explore */
    Py_RETURN_NONE;
}

PyMethodDef explore_functions[] = {{"explore_share", share, METH_O, NULL},
                                   {"explore_open", open_gate, METH_O, NULL},
                                   {"explore_close", shut_gate, METH_NOARGS, NULL},
                                   {"explore_begin", begin_run, METH_VARARGS, NULL},
                                   {"explore_settle", settle, METH_NOARGS, NULL},
                                   {"explore_abandon", abandon, METH_O, NULL},
                                   {"explore_let_go", let_go, METH_NOARGS, NULL},
                                   {"explore_finish_runs", finish_runs, METH_O, NULL},
                                   {"explore_is_clear", is_clear, METH_NOARGS, NULL},
                                   {"explore_end", end_run, METH_NOARGS, NULL},
                                   {"explore_leave", leave_run, METH_NOARGS, NULL},
                                   {"explore_add_switch", add_switch, METH_VARARGS, NULL},
                                   {"explore_expect", expect, METH_O, NULL},
                                   {NULL, NULL, 0, NULL}};
