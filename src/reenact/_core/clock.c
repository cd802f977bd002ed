/* The time module: clocks, which are read and logged or returned as they were, and sleep. */
#include "core.h"
#include <string.h>
#include <time.h>

static int64_t last_value[16];

/* In a forked child. */
void clock_forget(void)
{
    memset(last_value, 0, sizeof last_value);
}

/* The readings that those of a replay go on from. */
void clock_resume(int64_t *values)
{
    memcpy(values, last_value, sizeof last_value);
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t clock_value(clockid_t clock)
{
    if (gate_me() == NULL) {
        return read_clock(clock);
    }
    if (gate.settings.mode == MODE_REPLAY) {
        return replay_clock((uint64_t)clock);
    }
    int64_t value = gate.is_virtual ? search_clock(clock) : read_clock(clock);
    if (gate.is_parallel) {
        lane_clock(me, (uint64_t)clock, value);
        return value;
    }
    stream_varint(&streams[STREAM_CLOCK], (uint64_t)clock);
    stream_zigzag(&streams[STREAM_CLOCK], value - last_value[clock & 15]);
    last_value[clock & 15] = value;
    return value;
}

/* Whole seconds are exact, everything else is rounded once: as CPython converts. */
static PyObject *as_seconds(int64_t ns)
{
    double seconds = ns % 1000000000 == 0 ? (double)(ns / 1000000000) : (double)ns / 1e9;
    return PyFloat_FromDouble(seconds);
}

#define CLOCK(name, clock)                                                                         \
    static PyObject *name(PyObject *module, PyObject *unused)                                      \
    {                                                                                              \
        (void)module, (void)unused;                                                                \
        return as_seconds(clock_value(clock));                                                     \
    }                                                                                              \
    static PyObject *name##_ns(PyObject *module, PyObject *unused)                                 \
    {                                                                                              \
        (void)module, (void)unused;                                                                \
        return PyLong_FromLongLong(clock_value(clock));                                            \
    }
#define ROWS(name)                                                                                 \
    {#name, name, METH_NOARGS, NULL},                                                              \
    {                                                                                              \
        #name "_ns", name##_ns, METH_NOARGS, NULL                                                  \
    }

CLOCK(wall, CLOCK_REALTIME)
CLOCK(monotonic, CLOCK_MONOTONIC)
CLOCK(perf_counter, CLOCK_MONOTONIC)
CLOCK(process_time, CLOCK_PROCESS_CPUTIME_ID)
CLOCK(thread_time, CLOCK_THREAD_CPUTIME_ID)

static PyObject *native_sleep;

/* Python's own sleep(0) gives way to others, since the system's timers are not so exact; a wait for
 * no time at all is over at once. */
enum { SHORTEST_SLEEP_NS = 2000 };

static int64_t end_of_sleep(int64_t timeout_ns)
{
    bool is_real = gate.is_parallel && gate.settings.mode == MODE_RECORD;
    bool is_too_short = is_real && timeout_ns < SHORTEST_SLEEP_NS;
    return deadline_after(is_too_short ? SHORTEST_SLEEP_NS : timeout_ns);
}

static PyObject *sleep_for(PyObject *module, PyObject *seconds)
{
    (void)module;
    int64_t timeout_ns;
    Thread *thread = call_thread();
    if (thread == NULL) {
        return PyObject_CallOneArg(native_sleep, seconds);
    }
    if (seconds_to_ns(seconds, &timeout_ns) < 0 || timeout_ns < 0) {
        PyErr_Clear();
        return PyObject_CallOneArg(native_sleep, seconds);
    }
    if (gate_enter(thread, OP_SLEEP, NULL) < 0) {
        return NULL;
    }
    int64_t deadline_ns = end_of_sleep(timeout_ns);
    enum Waited waited;
    do {
        waited = gate_wait(thread, OP_SLEEP, NULL, deadline_ns);
    } while (waited == WAIT_INTERRUPTED && gate.active);
    if (waited == WAIT_FAILED) {
        return NULL;
    }
    if (gate.active) {
        gate_done(OP_SLEEP, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *keep_sleep(PyObject *module, PyObject *native)
{
    (void)module;
    native_sleep = Py_NewRef(native);
    Py_RETURN_NONE;
}

PyMethodDef clock_functions[] = {{"time", wall, METH_NOARGS, NULL},
                                 {"time_ns", wall_ns, METH_NOARGS, NULL},
                                 ROWS(monotonic),
                                 ROWS(perf_counter),
                                 ROWS(process_time),
                                 ROWS(thread_time),
                                 {"sleep", sleep_for, METH_O, NULL},
                                 {"keep_sleep", keep_sleep, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
