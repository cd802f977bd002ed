/* The tick: a constant in rewritten code whose negation, or truth, or next item, is a point. How it
 * gets there, and by what it is asked: plant.c. */
#include "core.h"

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

static int truth(PyObject *self)
{
    (void)self;
    return tick(me);
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

static PyObject *describe(PyObject *self)
{
    (void)self;
    return PyUnicode_FromString("<reenact tick>");
}

static PyNumberMethods tick_number = {.nb_negative = negation, .nb_bool = truth};
static PyMappingMethods tick_mapping = {.mp_ass_subscript = planted_raise};

PyTypeObject TickType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Tick",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_number = &tick_number,
    .tp_as_mapping = &tick_mapping,
    .tp_iternext = next,
    .tp_repr = describe,
};
