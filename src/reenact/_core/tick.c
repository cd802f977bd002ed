/* The tick: a constant in rewritten code whose negation, or truth, or next item, is a point. How it
 * gets there, and by what it is asked: plant.c. What is subscripted with something to loop over
 * goes over that, with a point before each item: `for x in TICK[range(n)]`. */
#include "core.h"
#include <stdlib.h>

/* Apart, so that the common case saves no registers. */
int __attribute__((noinline, cold)) tick_slowly(Thread *thread)
{
    if (thread == NULL) {
        if (gate.active) {
            gate_foreign();
        }
        return 1;
    }
    thread->pending_op = OP_NONE;
    thread->pending_object = 0;
    thread->pending = NULL;
    return gate_slow(thread) < 0 ? -1 : 1;
}

/* One that is no site. */
int tick_alone(Thread *thread)
{
    int result = tick(thread);
    if (__builtin_expect(thread == NULL, 0)) {
        return result;
    }
    if (!HAS_GIL && __builtin_expect(turns_are_asked(thread), 0)) {
        turns_consent_slowly(thread);
        presence_say_after(thread);
    }
    if (__builtin_expect(thread->lane.is_called_back, 0)) {
        turns_go_on_accessing(thread);
    }
    return result;
}

static int truth(PyObject *self)
{
    (void)self;
    return tick_alone(me);
}

static PyObject *negation(PyObject *self)
{
    return truth(self) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *next(PyObject *self)
{
    int result = truth(self);
    return __builtin_expect(result > 0, 1) ? NULL : planted_outcome(result);
}

/* ---- loops ---- */

typedef struct {
    PyObject_HEAD int64_t next;
    int32_t step;
    uint32_t left;
} Numbers; /* of a range */

typedef struct {
    PyObject_HEAD PyObject *iterator;
} Others;

static PyObject *unfit; /* what a handler raised that would end the loop */

static int raise_unfit(void *unused)
{
    (void)unused;
    PyObject *exception = unfit;
    unfit = NULL;
    if (exception == NULL) {
        return 0;
    }
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exception)), exception,
                  PyException_GetTraceback(exception));
    return -1;
}

/* A StopIteration is raised as soon as the interpreter looks for signals, which it does before the
 * next turn. */
static bool is_put_off(void)
{
    PyObject *exception = planted_outcome(-1);
    if (exception != NULL) {
        Py_XSETREF(unfit, exception);
        Py_AddPendingCall(raise_unfit, NULL);
    }
    return exception != NULL;
}

static PyObject *next_number(PyObject *self)
{
    Numbers *numbers = (Numbers *)self;
    if (numbers->left == 0 || (tick_alone(me) < 0 && !is_put_off())) {
        return NULL;
    }
    int64_t number = numbers->next;
    numbers->left--;
    numbers->next += numbers->step;
    return PyLong_FromLong((long)number);
}

static PyObject *next_other(PyObject *self)
{
    PyObject *iterator = ((Others *)self)->iterator;
    PyObject *item = Py_TYPE(iterator)->tp_iternext(iterator);
    if (item != NULL && tick_alone(me) < 0 && !is_put_off()) {
        Py_CLEAR(item);
    }
    return item;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Others *)self)->iterator);
    return 0;
}

static void numbers_dealloc(PyObject *self)
{
    PyObject_Free(self);
}

static void others_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Others *)self)->iterator);
    PyObject_GC_Del(self);
}

PyTypeObject NumbersType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Numbers",
    .tp_basicsize = sizeof(Numbers),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = next_number,
    .tp_dealloc = numbers_dealloc,
};
PyTypeObject OthersType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Others",
    .tp_basicsize = sizeof(Others),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = next_other,
    .tp_traverse = traverse,
    .tp_dealloc = others_dealloc,
};

/* Start, stop and step come first in a range; false if they are not small. */
static bool has_numbers(PyObject *range, long *numbers)
{
    PyObject **fields = (PyObject **)((char *)range + sizeof(PyObject));
    for (int i = 0; i < 3; i++) {
        int overflow;
        numbers[i] = PyLong_AsLongAndOverflow(fields[i], &overflow);
        if (overflow != 0 || numbers[i] > INT32_MAX || numbers[i] < INT32_MIN) {
            return false;
        }
    }
    return true;
}

static PyObject *over_numbers(long start, long stop, long step)
{
    Numbers *turns = PyObject_New(Numbers, &NumbersType);
    if (turns != NULL) {
        long distance = step > 0 ? stop - start : start - stop, stride = labs(step);
        turns->next = start;
        turns->step = (int32_t)step;
        turns->left = distance <= 0 ? 0 : (uint32_t)((distance + stride - 1) / stride);
    }
    return (PyObject *)turns;
}

static PyObject *over_others(PyObject *iterated)
{
    PyObject *iterator = PyObject_GetIter(iterated);
    Others *turns = iterator == NULL ? NULL : PyObject_GC_New(Others, &OthersType);
    if (turns == NULL) {
        Py_XDECREF(iterator);
        return NULL;
    }
    turns->iterator = iterator;
    PyObject_GC_Track(turns);
    return (PyObject *)turns;
}

static PyObject *go_over(PyObject *self, PyObject *iterated)
{
    (void)self;
    long numbers[3];
    return PyRange_Check(iterated) && has_numbers(iterated, numbers)
               ? over_numbers(numbers[0], numbers[1], numbers[2])
               : over_others(iterated);
}

static PyObject *describe(PyObject *self)
{
    (void)self;
    return PyUnicode_FromString("<reenact tick>");
}

static PyNumberMethods tick_number = {.nb_negative = negation, .nb_bool = truth};
static PyMappingMethods tick_mapping = {.mp_subscript = go_over, .mp_ass_subscript = planted_raise};

PyTypeObject TickType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Tick",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_number = &tick_number,
    .tp_as_mapping = &tick_mapping,
    .tp_iternext = next,
    .tp_repr = describe,
};
