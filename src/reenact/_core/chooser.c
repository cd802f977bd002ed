/* Strategies written in Python: asked at every operation and every slice of ticks.
 *
 * The chooser is called with the step and a tuple of candidates, each (thread index, operation
 * kind, object id, file, line); the first candidate is the running thread if it can go on. It
 * answers with a position in that tuple. Its own code is not under control. */
#include "core.h"

static PyObject *location(Thread *thread)
{
    Frame *frame = thread->tstate == NULL ? NULL : compat_top_frame(thread->tstate);
    for (; frame != NULL; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL) {
            int line = PyCode_Addr2Line(code, compat_frame_offset(frame, code));
            return Py_BuildValue("iIIOi", thread->index, thread->pending_op, thread->pending_object,
                                 code->co_filename, line);
        }
    }
    return Py_BuildValue("iIIsi", thread->index, thread->pending_op, thread->pending_object, "", 0);
}

static PyObject *describe(Thread **threads, size_t count)
{
    PyObject *candidates = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; candidates != NULL && i < count; i++) {
        PyObject *candidate = location(threads[i]);
        if (candidate == NULL) {
            Py_CLEAR(candidates);
            break;
        }
        PyTuple_SET_ITEM(candidates, (Py_ssize_t)i, candidate);
    }
    return candidates;
}

static size_t ask(Thread **threads, size_t count)
{
    PyObject *candidates = describe(threads, count);
    PyObject *answer = candidates == NULL
                           ? NULL
                           : PyObject_CallFunction(gate.settings.chooser, "LO",
                                                   (long long)gate_step(), candidates);
    Py_XDECREF(candidates);
    size_t choice = answer == NULL ? 0 : PyLong_AsSize_t(answer);
    Py_XDECREF(answer);
    if (PyErr_Occurred() || choice >= count) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_IndexError, "strategy chose %zu of %zu threads", choice, count);
        }
        PyErr_WriteUnraisable(gate.settings.chooser);
        return 0;
    }
    return choice;
}

/* The enabled threads in the order of the run queue, after those already in the array. */
static Thread *consult(Thread *running)
{
    Thread *threads[1024];
    size_t count = 0;
    if (running != NULL) {
        threads[count++] = running;
    }
    pthread_mutex_lock(&gate.mutex);
    queue_sift();
    for (Thread *thread = gate.run_first; thread != NULL && count < 1024;
         thread = thread->run_next) {
        threads[count++] = thread;
    }
    pthread_mutex_unlock(&gate.mutex);
    if (count == 0) {
        return NULL;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Thread *self = go_quiet();
    size_t choice = ask(threads, count);
    end_quiet(self);
    PyErr_Restore(type, value, traceback);
    return threads[choice];
}

void chooser_ask(Thread *thread)
{
    Thread *next = consult(thread);
    if (next != thread) {
        gate_preempt(thread, next);
    }
}

Thread *chooser_successor(Thread *thread)
{
    (void)thread;
    bool asked = gate.settings.mode == MODE_RECORD && gate.settings.strategy == STRATEGY_PYTHON;
    return asked ? consult(NULL) : NULL;
}
