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

enum { IDLE_NS = 15000000, EAGER_READS = 1000, AGAIN = 1000, PATIENT_TICKS = 10, CLOCKS = 16 };
enum { SECOND_NS = 1000000000, LEAVING_TRIES = 50 };
enum { SETTLE_STEPS = 2000, SLICE_COST = 50 }; /* a time slice without a step costs as many */

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
        if (thread->status == WAITING && thread->index >= search.first_thread) {
            thread->expired = true;
            thread->status = READY;
            queue_push(thread);
        }
    }
    Thread *first = &gate.slots[search.root];
    if (first->status == WAITING) {
        first->expired = true;
        first->status = READY;
        queue_push(first);
    }
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
    Thread *earliest = NULL;
    for (uint32_t i = 0; gate.holder == NULL && i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->timed &&
            (earliest == NULL || thread->deadline_ns < earliest->deadline_ns)) {
            earliest = thread;
        }
    }
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

static bool is_write(enum Operation kind)
{
    return kind != OP_LOCKED && kind != OP_JOIN && kind != OP_READ;
}

static Object world = {.kind = OBJECT_NOTHING}; /* what outside calls touch */

/* ---- machinery: what Python does to start and end a thread, in which no choice matters ---- */

enum { MOST_MACHINERY = 32 };
static PyObject *machinery[MOST_MACHINERY], *machinery_file;
static int machinery_count;

/* machinery(codes): functions of one file whose operations, and those of what they call there, are
 * no choices */
static PyObject *set_machinery(PyObject *module, PyObject *codes)
{
    (void)module;
    for (Py_ssize_t i = 0; PyTuple_Check(codes) && i < PyTuple_GET_SIZE(codes); i++) {
        PyObject *code = PyTuple_GET_ITEM(codes, i);
        if (!PyCode_Check(code) || machinery_count == MOST_MACHINERY) {
            PyErr_SetString(PyExc_ValueError, "machinery(codes), of a few functions of one file");
            return NULL;
        }
        machinery[machinery_count++] = Py_NewRef(code);
        machinery_file = ((PyCodeObject *)code)->co_filename;
    }
    Py_RETURN_NONE;
}

/* Imports take locks, and whether a module is loaded already is no matter of the program's. */
static bool is_of_imports(const PyCodeObject *code)
{
    return PyUnicode_CompareWithASCIIString(code->co_filename, "<frozen importlib._bootstrap>") ==
           0;
}

bool search_is_machinery(void)
{
    PyThreadState *tstate = compat_thread_state();
    Frame *frame = tstate == NULL ? NULL : compat_top_frame(tstate);
    for (; frame != NULL; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL && code->co_filename != machinery_file) {
            return is_of_imports(code);
        }
        for (int i = 0; code != NULL && i < machinery_count; i++) {
            if (machinery[i] == (PyObject *)code) {
                return true;
            }
        }
    }
    return true; /* called from C: the first and last moments of a thread */
}

static bool is_hidden(const Thread *thread)
{
    if (thread->pending_op == OP_END) {
        return run->ends_matter == 0 || run->ends_matter > search.racy_limit;
    }
    return search_is_machinery();
}

static bool is_sentinel(const Object *object)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (gate.slots[i].sentinel != NULL && gate.slots[i].sentinel == object->key) {
            return true;
        }
    }
    return false;
}

/* What the pending operation is on. The end of a thread can be seen by its lock, on 3.11 and 3.12.
 */
static Object *object_touched(const Thread *thread)
{
    Object *object = thread->pending_op == OP_CALL ? &world : thread->pending;
    if (thread->pending_op == OP_END) {
        return thread->sentinel == NULL ? object : object_of(thread->sentinel, OBJECT_LOCK);
    }
    if (object != NULL && run->ends_matter == 0 &&
        (object->kind == OBJECT_THREAD || is_sentinel(object))) {
        run->ends_matter = ++run->racy_count;
    }
    return object;
}

static PyObject *callbacks; /* of the garbage collector */

static void find_callbacks(void)
{
    PyObject *module = callbacks != NULL ? NULL : PyImport_ImportModule("gc");
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, "callbacks");
    Py_XDECREF(module);
    PyErr_Clear();
    if (found != NULL && PyList_Check(found)) {
        callbacks = found;
    }
}

/* The program's callbacks of the garbage collector may do anything, at any point: now and then one
 * comes between. Once in a run is enough. */
static void maybe_collect(Thread *thread)
{
    if (search.has_collected || search.aborting || callbacks == NULL ||
        PyList_GET_SIZE(callbacks) == 0 || !search_wants_collection(thread)) {
        return;
    }
    search.has_collected = true;
    if (log_is_on()) {
        pthread_mutex_lock(&gate.mutex);
        log_entry(ENTRY_COLLECT, 0);
        pthread_mutex_unlock(&gate.mutex);
    }
    collect_now(0);
}

static PyObject *observer;

/* observe(function or None): called in runs to come that follow given switches, before each
 * operation and access, with (does, thread, position, operation, object, name): first as the thread
 * comes to it, does being False, then as it does it. In between others may run. */
static PyObject *observe(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(observer, function == Py_None ? NULL : Py_NewRef(function));
    Py_RETURN_NONE;
}

void search_observe(Thread *thread, bool does, PyObject *object, PyObject *name)
{
    if (observer == NULL || !search.follows || search.aborting) {
        return;
    }
    Thread *self = go_quiet();
    PyObject *result = PyObject_CallFunction(
        observer, "OiIiOO", does ? Py_True : Py_False, thread->index, thread->explored.position,
        thread->pending_op, object == NULL ? Py_None : object, name == NULL ? Py_None : name);
    if (result == NULL) {
        PyErr_WriteUnraisable(observer);
    }
    Py_XDECREF(result);
    end_quiet(self);
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

/* Ticks that are no choices are counted all the same: a loop that waits for another thread, without
 * an operation that we could see, must not go on for ever. */
static bool is_time_for_others(Thread *thread)
{
    return search.at_ticks || ++thread->explored.ticks % PATIENT_TICKS == 0;
}

/* The choice before the running thread's pending operation. */
void search_point(Thread *thread)
{
    Explored *explored = &thread->explored;
    bool is_tick = thread->pending_op == OP_NONE && !explored->is_access;
    run->points++;
    if ((explored->is_access && !explored->is_choice) || (is_tick && !is_time_for_others(thread))) {
        return;
    }
    if (!explored->is_access && !is_tick && is_hidden(thread)) {
        explored->pending = NULL;
        return;
    }
    if (!explored->is_access) {
        Object *object = object_touched(thread);
        explored->position += !is_tick || search.at_ticks;
        explored->pending = object == NULL ? NULL : track_of(object);
        explored->pending_writes = is_write((enum Operation)thread->pending_op);
        explored->pending_waits = explored->blocks != NULL;
    }
    if (search.is_settling && (explored->is_access ? explored->is_slice_end : is_tick)) {
        uint64_t cost = search.at_ticks ? 1 : SLICE_COST;
        search.settle_until -= search.settle_until > cost ? cost : search.settle_until;
    }
    explored->site = is_tick || log_is_on() ? 0 : site_here((enum Operation)thread->pending_op);
    bool is_observed = !explored->is_access && !is_tick;
    PyObject *key = is_observed && thread->pending != NULL ? thread->pending->key : NULL;
    if (is_observed) {
        search_observe(thread, false, key, NULL);
    }
    pthread_mutex_lock(&gate.mutex);
    Thread *next = search_choose(thread);
    if (next == NULL || next == thread) {
        pthread_mutex_unlock(&gate.mutex);
    }
    else {
        gate_preempt_locked(thread, next);
    }
    maybe_collect(thread);
    if (is_observed) {
        search_observe(thread, true, key, NULL);
    }
}

/* ---- opening and closing ---- */

static PyObject *no_memory(void)
{
    return PyErr_NoMemory();
}

/* share(anew): memory for what runs leave, before anything is forked; anew in a forked process that
 * is to have its own */
static PyObject *share(PyObject *module, PyObject *anew)
{
    (void)module;
    if (run == NULL || PyObject_IsTrue(anew) == 1) {
        void *at = mmap(NULL, sizeof(Run), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) {
            return no_memory();
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
        return no_memory();
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
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        thread->explored = (Explored){.identity = i + 1, .hash = i + 1};
        clocks_begin(thread, thread);
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
 * racy_limit, is_virtual, hook) */
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
        return no_memory();
    }
    search.prefix = prefix;
    search.switches = switches;
    place_changes(depth, length);
    run->reason = run->threads = run->is_uncontrolled = run->is_truncated = 0;
    run->timed_waits = 0;
    run->steps = run->choices = run->points = run->fingerprint = run->preemptions = 0;
    run->note[0] = '\0';
    if (!log_is_on()) {
        collect_if_due();
    }
    find_callbacks();
    begin_threads();
    begin_time(is_virtual);
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
    if (was_aborting) {
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

/* is_clear(): no thread of the run is left */
static PyObject *is_clear(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(!gate.exploring || somebody_left() == NULL);
}

static PyObject *result(void)
{
    return Py_BuildValue(
        "{sIsKsKsKsKsKsIsOsOsssIsI}", "reason", run->reason, "steps",
        (unsigned long long)run->steps, "choices", (unsigned long long)run->choices, "points",
        (unsigned long long)run->points, "fingerprint", (unsigned long long)run->fingerprint,
        "preemptions", (unsigned long long)run->preemptions, "threads", run->threads,
        "uncontrolled", run->is_uncontrolled ? Py_True : Py_False, "truncated",
        run->is_truncated ? Py_True : Py_False, "note", run->note, "racy", run->racy_count, "timed",
        run->timed_waits);
}

/* end(): back to first come, first served, and the system's time */
static PyObject *end_run(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (gate.settings.mode == MODE_REPLAY) {
        return result();
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
    return result();
}

/* result(): of the last run, which may have been another process's */
static PyObject *last_result(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return result();
}

/* trace(): the steps of the last run, as tuples */
static PyObject *trace(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Py_ssize_t count = (Py_ssize_t)(run->steps < MOST_STEPS ? run->steps : MOST_STEPS);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        const Step *step = &run->trace[i];
        PyObject *tuple = Py_BuildValue(
            "iiOKKIIiiOKKiO", step->thread, step->op, step->writes ? Py_True : Py_False,
            (unsigned long long)step->key, (unsigned long long)step->enabled, step->site,
            step->position, step->previous, step->count, step->is_forced ? Py_True : Py_False,
            (unsigned long long)step->asleep, (unsigned long long)step->joined, step->parent,
            step->waits ? Py_True : Py_False);
        if (tuple == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, tuple);
    }
    return list;
}

/* site(number): (operation, file, line, function) */
static PyObject *site(PyObject *module, PyObject *number)
{
    (void)module;
    const Site *found = site_get((uint32_t)PyLong_AsUnsignedLong(number));
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (found->kind == 0) {
        return Py_BuildValue("IsIs", 0, "", 0, "");
    }
    return Py_BuildValue("IsIs", found->kind, site_string(found->file), found->line,
                         site_string(found->function));
}

/* choose(identities): a position in the list, by the strategy */
static PyObject *choose_among(PyObject *module, PyObject *list)
{
    (void)module;
    Thread *thread = gate_me();
    Py_ssize_t count = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
    if (thread == NULL || !gate.exploring || search.aborting || count < 2) {
        return PyLong_FromLong(0);
    }
    uint64_t identities[256];
    count = count > 256 ? 256 : count;
    for (Py_ssize_t i = 0; i < count; i++) {
        identities[i] = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(list, i));
    }
    thread->explored.position++;
    thread->pending_op = OP_CHOICE;
    search_observe(thread, false, NULL, NULL);
    return PyLong_FromSize_t(search_among(identities, (size_t)count));
}

/* waits(): who waits for what, as (thread, status, operation, kind, owner, ident) */
static PyObject *waits(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        const Object *object =
            thread->waits_for != NULL ? thread->waits_for : thread->explored.blocks;
        int owner = object == NULL                  ? -1
                    : object->kind == OBJECT_THREAD ? (int)object->id
                                                    : object->owner;
        PyObject *tuple =
            Py_BuildValue("iiiiik", thread->index, (int)thread->status, thread->pending_op,
                          object == NULL ? 0 : object->kind, owner,
                          thread->tstate == NULL ? 0UL : (unsigned long)thread->tstate->thread_id);
        if (tuple == NULL || PyList_Append(list, tuple) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(tuple);
    }
    return list;
}

/* racy(): what is known of sites that race, for set_racy() in another process */
static PyObject *racy(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(run->racy_count);
    for (uint32_t i = 0; list != NULL && i < run->racy_count; i++) {
        PyList_SET_ITEM(list, i, PyLong_FromLong(0)); /* the ends of threads, or so it stays */
    }
    for (size_t slot = 0; list != NULL && slot < MOST_RACY; slot++) {
        if (run->racy[slot] != 0) {
            PyList_SetItem(list, run->racy_order[slot] - 1,
                           PyLong_FromUnsignedLongLong(run->racy[slot]));
        }
    }
    return list;
}

static PyObject *set_racy(PyObject *module, PyObject *list)
{
    (void)module;
    if (run == NULL || !PyList_Check(list) || PyList_GET_SIZE(list) >= MOST_RACY / 2) {
        PyErr_SetString(PyExc_ValueError, "set_racy(list)");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        uint64_t key = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(list, i));
        run->racy_count++;
        if (key == 0) {
            run->ends_matter = run->racy_count;
        }
        else {
            variables_know_racy(key);
        }
    }
    Py_RETURN_NONE;
}

/* me(): the index of the thread that runs */
static PyObject *own_index(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(gate.holder == NULL ? -1 : gate.holder->index);
}

/* threads(): (parent, ordinal) of each */
static PyObject *threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < gate.state->threads; i++) {
        PyObject *tuple = Py_BuildValue("ii", gate.slots[i].parent, gate.slots[i].ordinal);
        if (tuple == NULL || PyList_Append(list, tuple) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(tuple);
    }
    return list;
}

PyMethodDef explore_functions[] = {{"explore_share", share, METH_O, NULL},
                                   {"explore_open", open_gate, METH_O, NULL},
                                   {"explore_close", shut_gate, METH_NOARGS, NULL},
                                   {"explore_begin", begin_run, METH_VARARGS, NULL},
                                   {"explore_settle", settle, METH_NOARGS, NULL},
                                   {"explore_abandon", abandon, METH_O, NULL},
                                   {"explore_let_go", let_go, METH_NOARGS, NULL},
                                   {"explore_is_clear", is_clear, METH_NOARGS, NULL},
                                   {"explore_end", end_run, METH_NOARGS, NULL},
                                   {"explore_result", last_result, METH_NOARGS, NULL},
                                   {"explore_trace", trace, METH_NOARGS, NULL},
                                   {"explore_site", site, METH_O, NULL},
                                   {"explore_choose", choose_among, METH_O, NULL},
                                   {"explore_waits", waits, METH_NOARGS, NULL},
                                   {"explore_racy", racy, METH_NOARGS, NULL},
                                   {"explore_set_racy", set_racy, METH_O, NULL},
                                   {"explore_me", own_index, METH_NOARGS, NULL},
                                   {"explore_observe", observe, METH_O, NULL},
                                   {"explore_add_switch", add_switch, METH_VARARGS, NULL},
                                   {"explore_expect", expect, METH_O, NULL},
                                   {"explore_threads", threads, METH_NOARGS, NULL},
                                   {"explore_machinery", set_machinery, METH_O, NULL},
                                   {NULL, NULL, 0, NULL}};
