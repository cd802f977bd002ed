/* Signals with Python handlers: held back until a point, and put down in the schedule.
 *
 * The C handler only sets a bit. At a point the bit becomes a schedule entry (signal) and the
 * main thread's business, which runs the Python handler where it stands then. If the main thread
 * is parked it becomes another kind of entry (interrupt) at once: its handler runs as the main
 * thread is resumed, never at the point before it parked. While the main thread is in an outside
 * call the interpreter's own machinery must interrupt that call, so the signal is passed on; the
 * handler, handle() below, then takes the baton first and leaves a word in the inputs. */
#include "core.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* Signals whose time has come; others that the interpreter hears of are held back again. */
static _Atomic uint64_t due;

static void pass_on_natively(int number)
{
    PyErr_SetInterruptEx(number);
}

static void pass_on_due(int number)
{
    atomic_fetch_or(&due, 1ULL << number);
    pass_on_natively(number);
}

void signals_raise(int number)
{
    uint64_t bit = 1ULL << number;
    if (!gate.active || gate.slots[0].status == OUTSIDE) {
        pass_on_natively(number);
        return;
    }
    atomic_fetch_or(&gate.signals_pending, bit);
}

/* ---- whether one may be on its way ---- */

enum { SAME_ALARM_NS = 50000000 };

/* When the system's own timer strikes, 0 if it is not set. */
static int64_t alarm_ns(void)
{
    struct itimerval left;
    if (getitimer(ITIMER_REAL, &left) < 0 ||
        (left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0)) {
        return 0;
    }
    return real_ns() + left.it_value.tv_sec * 1000000000LL + left.it_value.tv_usec * 1000LL;
}

/* Handlers and timers that are there as a run of a search begins are not the program's: a test
 * runner has them, to end a test that takes too long. */
void signals_begin_run(void)
{
    search.handled = gate.handled;
    search.alarm_ns = alarm_ns();
}

static bool is_alarm_theirs(void)
{
    int64_t due = alarm_ns();
    int64_t between = due - search.alarm_ns;
    return due != 0 && (between > SAME_ALARM_NS || between < -SAME_ALARM_NS);
}

bool signals_may_come(void)
{
    if (!gate.exploring) {
        return gate.handled != 0;
    }
    return (gate.handled & ~search.handled) != 0 || (gate.handled != 0 && is_alarm_theirs());
}

void signals_note_handler(int number, bool is_there)
{
    uint64_t bit = 1ULL << (number & 63);
    gate.handled = is_there ? gate.handled | bit : gate.handled & ~bit;
}

int signals_watch(int number, bool is_default)
{
    struct sigaction action = {.sa_handler = signals_raise, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    /* Ctrl-C in a search is the user's, and nothing to wait for; asyncio.run has a handler. */
    if (is_default || !gate.exploring || number != SIGINT) {
        signals_note_handler(number, !is_default);
    }
    return sigaction(number, &action, NULL);
}

/* The schedule says when a replayed program hears a signal. What it sends to itself again, and its
 * timers, are not heard; what ends a program, sent by somebody else, is meant for the replay. */
static void on_signal_in_replay(int number, siginfo_t *info, void *context)
{
    (void)context;
    bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    bool is_own =
        (info->si_code == SI_USER || info->si_code == SI_TKILL) && info->si_pid == getpid();
    if (ends && !is_own) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

int signals_watch_replay(int number)
{
    struct sigaction action = {.sa_sigaction = on_signal_in_replay,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

/* Caller holds the mutex. True if the main thread has handlers to run. */
bool signals_collect(enum EntryKind entry)
{
    uint64_t pending = atomic_exchange(&gate.signals_pending, 0);
    for (int number = 1; pending != 0 && number < 64; number++) {
        if (pending & (1ULL << number)) {
            log_entry(entry, (uint64_t)number);
        }
    }
    gate.slots[0].signals |= pending;
    return gate.slots[0].signals != 0;
}

int signals_run(Thread *thread)
{
    if (thread->signals == 0) {
        return 0;
    }
    if (thread->deferring > 0) {
        gate_look_soon(thread);
        return 0;
    }
    uint64_t signals = thread->signals;
    thread->signals = 0;
    for (int number = 1; number < 64; number++) {
        if (signals & (1ULL << number)) {
            pass_on_due(number);
        }
    }
    if (PyErr_CheckSignals() < 0) {
        return -1;
    }
    return gate.has_lanes ? gate_enter(thread, OP_NONE, NULL) : 0; /* see parallel.c */
}

/* The patrol's part: code without points must not make the program deaf. */
void signals_give_up_waiting(void)
{
    uint64_t pending = atomic_exchange(&gate.signals_pending, 0);
    for (int number = 1; pending != 0 && number < 64; number++) {
        if (pending & (1ULL << number)) {
            log_note(NOTE_SIGNAL, (uint64_t)number, 0);
            pass_on_due(number);
        }
    }
}

/* Handlers as the program gave them; the interpreter knows handle() alone. */
static PyObject *handlers[64];

static PyObject *call_handler(long number, PyObject *frame)
{
    PyObject *handler = number > 0 && number < 64 ? handlers[number] : NULL;
    return handler == NULL ? Py_NewRef(Py_None)
                           : PyObject_CallFunction(handler, "lO", number, frame);
}

/* In the middle of a native call that waits. Going on with the call after the handler has run is
 * what the interpreter does; if the handler raises, the call ends with that. */
static PyObject *handle_inside(Thread *thread, long number, PyObject *frame)
{
    int32_t inside = thread->inside, was_quiet = quiet;
    me = thread;
    thread->inside = quiet = 0;
    gate_rejoin(thread);
    parallel_extra_point(thread);
    if (gate.active) {
        call_put_signalled((int)number);
    }
    PyObject *result = call_handler(number, frame);
    thread->inside = inside;
    quiet = was_quiet;
    me = NULL;
    if (result == NULL) {
        thread->interrupted = true;
    }
    else if (gate.active) {
        gate_drop(thread);
    }
    return result;
}

/* A signal that came while the main thread was in an outside call, which ended without hearing
 * of it: there is no point here, so it waits for the next. */
static bool is_late(const Thread *thread, long number)
{
    uint64_t bit = 1ULL << (number & 63);
    bool was_due = atomic_fetch_and(&due, ~bit) & bit;
    return !was_due && gate.active && gate.settings.mode == MODE_RECORD && !thread->away;
}

/* handle(number, frame): what the interpreter calls when a signal came */
static PyObject *handle(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "handle(number, frame)");
        return NULL;
    }
    long number = PyLong_AsLong(args[0]);
    Thread *thread = &gate.slots[0]; /* handlers run in the main thread alone */
    if (is_late(thread, number)) {
        atomic_fetch_or(&gate.signals_pending, 1ULL << (number & 63));
        Py_RETURN_NONE;
    }
    bool is_inside =
        gate.active && thread->inside > 0 && thread->away && gate.settings.mode == MODE_RECORD;
    return is_inside ? handle_inside(thread, number, args[1]) : call_handler(number, args[1]);
}

/* set_handler(number, handler or None): the one before it, or None */
static PyObject *set_handler(PyObject *module, PyObject *args)
{
    (void)module;
    int number;
    PyObject *handler;
    if (!PyArg_ParseTuple(args, "iO", &number, &handler)) {
        return NULL;
    }
    if (number < 1 || number > 63) {
        PyErr_SetString(PyExc_ValueError, "signal number out of range");
        return NULL;
    }
    PyObject *before = handlers[number] == NULL ? Py_NewRef(Py_None) : handlers[number];
    handlers[number] = handler == Py_None ? NULL : Py_NewRef(handler);
    return before;
}

/* A replay's main thread hears a signal inside a recorded call. */
int signals_handle_now(int number)
{
    pass_on_natively(number);
    return PyErr_CheckSignals();
}

PyMethodDef signal_functions[] = {
    {"handle_signal", (PyCFunction)(void (*)(void))handle, METH_FASTCALL, NULL},
    {"set_handler", set_handler, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
