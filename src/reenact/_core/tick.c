/* The tick: a constant in rewritten code whose negation is a point.
 *
 * `-TICK` compiles to LOAD_CONST, UNARY_NEGATIVE, POP_TOP: no name lookup, no call frame. The
 * rewriter leaves a placeholder string among the constants; plant() swaps it for the tick after
 * the code was loaded, so that rewritten code can be kept on disk. */
#include "core.h"

/* Apart, so that the common case saves no registers. */
static PyObject *__attribute__((noinline, cold)) tick_slowly(Thread *thread)
{
    if (thread == NULL) {
        if (gate.active) {
            gate_foreign();
        }
        Py_RETURN_NONE;
    }
    thread->pending_op = OP_NONE;
    thread->pending_object = 0;
    if (gate_slow(thread) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *tick(PyObject *self)
{
    (void)self;
    Thread *thread = me;
    if (__builtin_expect(thread != NULL && --thread->budget > 0, 1)) {
        Py_RETURN_NONE;
    }
    return tick_slowly(thread);
}

static PyObject *describe(PyObject *self)
{
    (void)self;
    return PyUnicode_FromString("<reenact tick>");
}

static PyNumberMethods tick_number = {.nb_negative = tick};

PyTypeObject TickType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Tick",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_number = &tick_number,
    .tp_repr = describe,
};

static PyObject *the_tick, *placeholder;

static int swap_constants(PyCodeObject *code)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(constant)) {
            if (swap_constants((PyCodeObject *)constant) < 0) {
                return -1;
            }
        }
        else if (PyUnicode_CheckExact(constant) && PyUnicode_Compare(constant, placeholder) == 0) {
            PyTuple_SET_ITEM(code->co_consts, i, Py_NewRef(the_tick));
            Py_DECREF(constant);
        }
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* plant(code, placeholder): the code must not have run yet */
PyObject *plant(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyCode_Check(args[0]) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "plant(code, placeholder)");
        return NULL;
    }
    if (the_tick == NULL && (the_tick = PyObject_New(PyObject, &TickType)) == NULL) {
        return NULL;
    }
    placeholder = args[1];
    if (swap_constants((PyCodeObject *)args[0]) < 0) {
        return NULL;
    }
    return Py_NewRef(args[0]);
}
