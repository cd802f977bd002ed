/* The tick: a constant in rewritten code whose negation, or truth, is a point.
 *
 * `-TICK` compiles to LOAD_CONST, UNARY_NEGATIVE, POP_TOP: no name lookup, no call frame. The
 * rewriter leaves a placeholder string among the constants; plant() swaps it for the tick after
 * the code was loaded, so that rewritten code can be kept on disk. Where one instruction can ask
 * for truth and drop the constant, plant() uses it instead of the other two: the tick is true,
 * and the jump goes over the one that is left. Placeholders of accesses are swapped as well, for
 * sites (access.c), which are true, too, where one is a statement. */
#include "core.h"
#include <opcode.h>

/* Apart, so that the common case saves no registers. */
static int __attribute__((noinline, cold)) pass_slowly(Thread *thread)
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
    Thread *thread = me;
    if (__builtin_expect(thread != NULL && --thread->budget > 0, 1)) {
        return 1;
    }
    return pass_slowly(thread);
}

static PyObject *negation(PyObject *self)
{
    return truth(self) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *describe(PyObject *self)
{
    (void)self;
    return PyUnicode_FromString("<reenact tick>");
}

static PyNumberMethods tick_number = {.nb_negative = negation, .nb_bool = truth};

PyTypeObject TickType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Tick",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_number = &tick_number,
    .tp_repr = describe,
};

static PyObject *the_tick, *placeholder;

#ifdef POP_AND_JUMP_IF_TRUE
static void shorten(PyCodeObject *code)
{
    _Py_CODEUNIT *at = _PyCode_CODE(code), *end = at + Py_SIZE(code);
    int argument = 0;
    for (; at + 2 < end; at++) {
        argument = argument << 8 | compat_argument(*at);
        PyObject *constant =
            compat_opcode(*at) == LOAD_CONST ? PyTuple_GET_ITEM(code->co_consts, argument) : NULL;
        bool is_ours = constant != NULL && (is_access_site(constant) || is_guard(constant));
        bool is_point = is_ours || (constant != NULL && constant == the_tick);
        if (is_point && is_guard(constant) && compat_opcode(at[1]) == UNARY_NEGATIVE &&
            compat_opcode(at[2]) == POP_AND_JUMP_IF_FALSE) {
            compat_set_instruction(&at[1], NOP, 0);
        }
        if (is_point && compat_opcode(at[1]) == UNARY_NEGATIVE && compat_opcode(at[2]) == POP_TOP) {
            compat_set_instruction(&at[1], POP_AND_JUMP_IF_TRUE, 1);
            compat_set_instruction(&at[2], NOP, 0);
        }
        argument = compat_opcode(*at) == EXTENDED_ARG ? argument : 0;
    }
}
#else
static void shorten(PyCodeObject *code)
{
    (void)code;
}
#endif

static int swap_constants(PyCodeObject *code)
{
    bool has_points = false;
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
            has_points = true;
        }
        else if (is_access_placeholder(constant)) {
            PyObject *site = access_site(constant);
            if (site == NULL) {
                return -1;
            }
            PyTuple_SET_ITEM(code->co_consts, i, site);
            Py_DECREF(constant);
            has_points = true;
        }
    }
    if (has_points) {
        shorten(code);
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
    compat_make_immortal(the_tick);
    placeholder = args[1];
    if (swap_constants((PyCodeObject *)args[0]) < 0) {
        return NULL;
    }
    return Py_NewRef(args[0]);
}
