/* The clocks of the time module: read and logged, or returned as they were. */
#include "core.h"
#include <string.h>
#include <time.h>

static int64_t last_value[16];

/* In a forked child. */
void clock_forget(void)
{
    memset(last_value, 0, sizeof last_value);
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
    int64_t value = read_clock(clock);
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

PyMethodDef clock_functions[] = {{"time", wall, METH_NOARGS, NULL},
                                 {"time_ns", wall_ns, METH_NOARGS, NULL},
                                 ROWS(monotonic),
                                 ROWS(perf_counter),
                                 ROWS(process_time),
                                 ROWS(thread_time),
                                 {NULL, NULL, 0, NULL}};
