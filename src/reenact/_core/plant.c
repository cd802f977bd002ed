/* Planting: rewritten code gets its ticks and sites, and instructions that ask them at little cost.
 *
 * The rewriter leaves placeholder strings among the constants, so that rewritten code can be kept
 * on disk; plant() swaps them for the tick and for sites (access.c) after the code was loaded.
 * `-TICK` compiles to LOAD_CONST, UNARY_NEGATIVE, POP_TOP: no name lookup, no call frame. There are
 * cheaper ways to come by a function of ours. On 3.11 it is an iterator that has come to its end,
 * on 3.12 the truth of the tick, which jumps over the instruction that is left. On 3.11 the tick
 * also lets a variable be loaded before it, if that cannot fail: for LOAD_FAST and LOAD_CONST the
 * interpreter has one instruction.
 *
 * `SITE[operand]` is subscripted, which the interpreter tries to specialise again and again. Where
 * it has the instruction, the site is asked as the tick is, and moved to lie on its operand instead
 * of below it: at once if the operand is a variable or a constant, else with a swap, when the site
 * is asked for the first time. Instructions change in place, as when the interpreter specialises
 * them; who is in the middle of the old one goes on behind the new ones. */
#include "core.h"
#include <opcode.h>
#include <string.h>

static PyObject *the_tick, *placeholder;

/* ---- exceptions ---- */

/* What the next item of a tick or site is that has done its part, or failed if *result* is
 * negative. The interpreter takes a StopIteration, which a signal's handler may raise, for an end:
 * so it is given away, to be raised by planted_raise. */
PyObject *planted_outcome(int result)
{
    if (result >= 0 || !PyErr_ExceptionMatches(PyExc_StopIteration)) {
        return NULL;
    }
    PyObject *type, *exception, *traceback;
    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(exception, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return exception;
}

/* `del SITE[exception]` */
int planted_raise(PyObject *self, PyObject *exception, PyObject *value)
{
    (void)self;
    if (value != NULL || !PyExceptionInstance_Check(exception)) {
        PyErr_SetString(PyExc_TypeError, "this is no place to keep anything");
        return -1;
    }
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exception)), Py_NewRef(exception),
                  PyException_GetTraceback(exception));
    return -1;
}

/* ---- instructions ---- */

static inline PyObject *constant_at(const PyCodeObject *code, _Py_CODEUNIT unit, int argument)
{
    return compat_opcode(unit) == LOAD_CONST ? PyTuple_GET_ITEM(code->co_consts, argument) : NULL;
}

#ifdef ASK_AND_JUMP
/* Here, with so many units to jump over behind it: one that raises, and others that do nothing. */
static void ask_here(_Py_CODEUNIT *at, int units)
{
    compat_set_instruction(at, ASK_AND_JUMP, units);
    compat_set_instruction(at + 1, HAND_OVER, 0);
    for (int i = 2; i <= units; i++) {
        compat_set_instruction(at + i, NOP, 0);
    }
}

/* For an exception that is handed over, and a variable that is loaded early. */
static void make_room(PyCodeObject *code)
{
    code->co_stacksize += 2;
}

static bool jumps_back(int opcode)
{
    switch (opcode) {
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE: return true;
    default: return false;
    }
}

static bool jumps_on(int opcode)
{
    switch (opcode) {
    case JUMP_FORWARD:
    case FOR_ITER:
    case SEND:
    case JUMP_IF_TRUE_OR_POP:
    case JUMP_IF_FALSE_OR_POP:
    case POP_JUMP_FORWARD_IF_TRUE:
    case POP_JUMP_FORWARD_IF_FALSE:
    case POP_JUMP_FORWARD_IF_NONE:
    case POP_JUMP_FORWARD_IF_NOT_NONE: return true;
    default: return false;
    }
}

/* Does the code jump there, or delete that variable, anywhere? Handlers of exceptions begin with
 * instructions of their own. */
static bool is_disturbed(PyCodeObject *code, const _Py_CODEUNIT *wanted, int variable)
{
    const _Py_CODEUNIT *at = _PyCode_CODE(code), *end = at + Py_SIZE(code);
    int argument = 0;
    for (; at < end; at++) {
        int opcode = compat_opcode(*at);
        argument = argument << 8 | compat_argument(*at);
        if ((opcode == DELETE_FAST && argument == variable) ||
            (jumps_on(opcode) && at + 1 + argument == wanted) ||
            (jumps_back(opcode) && at + 1 - argument == wanted)) {
            return true;
        }
        argument = opcode == EXTENDED_ARG ? argument : 0;
    }
    return false;
}

/* Is the variable there whenever this is reached, as a parameter, or by the instruction before? */
static bool is_bound(PyCodeObject *code, const _Py_CODEUNIT *at, int variable)
{
    int parameters = code->co_argcount + code->co_kwonlyargcount +
                     ((code->co_flags & CO_VARARGS) != 0) +
                     ((code->co_flags & CO_VARKEYWORDS) != 0);
    bool is_set = at > _PyCode_CODE(code) && compat_opcode(at[-1]) == STORE_FAST &&
                  compat_argument(at[-1]) == variable;
    return variable < parameters || is_set;
}

/* The tick, and what is loaded after it. */
static bool load_early(PyCodeObject *code, _Py_CODEUNIT *at)
{
    int variable = compat_argument(at[3]);
    if (at + 3 >= _PyCode_CODE(code) + Py_SIZE(code) || compat_opcode(at[3]) != LOAD_FAST ||
        !is_bound(code, at, variable) || is_disturbed(code, at + 3, variable)) {
        return false;
    }
    at[1] = at[0];
    at[0] = at[3];
    ask_here(at + 2, 1);
    return true;
}

static void shorten_statement(PyCodeObject *code, _Py_CODEUNIT *at, PyObject *constant,
                              bool is_extended)
{
    if (is_access_site(constant)) {
        ((AccessSite *)constant)->is_bare = true;
        ask_here(at + 1, 1);
    }
    else if (is_extended || !load_early(code, at)) {
        ask_here(at + 1, 1);
    }
}

/* How many units the operator has, with those of its cache; 0 if it is not one of a site. */
static int units_of_operator(_Py_CODEUNIT unit)
{
    switch (compat_opcode(unit)) {
    case BINARY_SUBSCR: return 1 + INLINE_CACHE_ENTRIES_BINARY_SUBSCR;
    case BINARY_OP:
        return compat_argument(unit) == NB_MATRIX_MULTIPLY ? 1 + INLINE_CACHE_ENTRIES_BINARY_OP : 0;
    default: return 0;
    }
}

/* A site, and an operand of one instruction that cannot fail, or fails at the same place. How many
 * units behind the site have been dealt with. */
static int shorten_operand(_Py_CODEUNIT *at, PyObject *constant, bool is_extended)
{
    (void)constant;
    int opcode = compat_opcode(at[1]), units = units_of_operator(at[2]);
    if (units == 0 || (opcode != LOAD_FAST && opcode != LOAD_CONST && opcode != LOAD_DEREF)) {
        return 0;
    }
    _Py_CODEUNIT operand = at[1];
    at[1] = at[0];
    at[0] = is_extended ? at[-1] : operand;
    at[-is_extended] = operand;
    ask_here(at + 2, units - 1);
    return 1 + units;
}

/* The instruction by which the site is being asked; NULL if it is not of the site's own code. */
static _Py_CODEUNIT *instruction_of(const AccessSite *site)
{
    PyThreadState *tstate = compat_thread_state();
    Frame *frame = tstate == NULL ? NULL : compat_top_frame(tstate);
    PyCodeObject *code = frame == NULL ? NULL : compat_frame_code(frame);
    return code == NULL || site->code != code ? NULL : compat_frame_instruction(frame);
}

/* The site was asked by an operator, and is to be asked in the shorter way from now on. */
void plant_after(AccessSite *site)
{
    _Py_CODEUNIT *at = instruction_of(site);
    int opcode = at == NULL ? NOP : compat_opcode(*at);
    if (opcode == BINARY_SUBSCR || opcode == BINARY_SUBSCR_ADAPTIVE) {
        compat_set_instruction(at, SWAP, 2);
        ask_here(at + 1, INLINE_CACHE_ENTRIES_BINARY_SUBSCR - 1);
    }
}

/* Where the site is loaded, if that is right before it is asked; else NULL. */
static _Py_CODEUNIT *loaded_before(const AccessSite *site, _Py_CODEUNIT *asked)
{
    int argument = compat_argument(asked[-1]);
    const PyObject *constants = site->code->co_consts;
    if (compat_opcode(asked[-1]) != LOAD_CONST) {
        return NULL;
    }
    if (PyTuple_GET_ITEM(constants, argument) == (const PyObject *)site) {
        return asked - 1;
    }
    argument |= compat_argument(asked[-2]) << 8;
    bool is_extended = compat_opcode(asked[-2]) == EXTENDED_ARG &&
                       argument < PyTuple_GET_SIZE(constants) &&
                       PyTuple_GET_ITEM(constants, argument) == (const PyObject *)site;
    return is_extended ? asked - 2 : NULL;
}

/* The site is being asked after its operand, in vain, and is passed over from now on. */
void plant_sleep(AccessSite *site)
{
    _Py_CODEUNIT *asked = instruction_of(site);
    if (asked == NULL || compat_opcode(*asked) != ASK_AND_JUMP) {
        return;
    }
    _Py_CODEUNIT *loaded = loaded_before(site, asked), *end = asked + 1 + compat_argument(*asked);
    _Py_CODEUNIT *at = loaded == NULL ? asked : loaded;
    int number = 0;
    while (number < MOST_PASSED_OVER && site->passed_over[number].at != NULL) {
        number++;
    }
    if (number == MOST_PASSED_OVER || (loaded == NULL && compat_opcode(asked[-1]) != SWAP)) {
        return;
    }
    site->passed_over[number].at = at;
    memcpy(site->passed_over[number].was, at, sizeof site->passed_over[number].was);
    if (loaded == NULL) {
        compat_set_instruction(at++, POP_TOP, 0);
    }
    else if (compat_opcode(at[-1]) == LOAD_FAST__LOAD_CONST) {
        compat_set_instruction(at - 1, LOAD_FAST, compat_argument(at[-1]));
    }
    compat_set_instruction(at, JUMP_FORWARD, (int)(end - at - 1));
}

void plant_wake(AccessSite *site)
{
    for (int i = 0; i < MOST_PASSED_OVER && site->passed_over[i].at != NULL; i++) {
        memcpy(site->passed_over[i].at, site->passed_over[i].was, sizeof site->passed_over[i].was);
        site->passed_over[i].at = NULL;
    }
}
#else
static void make_room(PyCodeObject *code)
{
    (void)code;
}

static void shorten_statement(PyCodeObject *code, _Py_CODEUNIT *at, PyObject *constant,
                              bool is_extended)
{
    (void)code, (void)constant, (void)is_extended;
#ifdef POP_AND_JUMP_IF_TRUE
    compat_set_instruction(&at[1], POP_AND_JUMP_IF_TRUE, 1);
    compat_set_instruction(&at[2], NOP, 0);
#else
    (void)at;
#endif
}

/* Without a GIL, each use of what another thread has made is counted by an atomic instruction. So
 * the site of a variable comes before the variable, and finds it by itself. */
static int shorten_operand(_Py_CODEUNIT *at, PyObject *constant, bool is_extended)
{
    (void)is_extended;
    int variable = compat_argument(at[1]);
    bool is_fit = !HAS_GIL && compat_opcode(at[1]) == LOAD_FAST && variable < UINT8_MAX &&
                  compat_opcode(at[2]) == BINARY_SUBSCR && INLINE_CACHE_ENTRIES_BINARY_SUBSCR == 1;
    if (!is_fit) {
        return 0;
    }
    ((AccessSite *)constant)->local = (uint8_t)(variable + 1);
    at[3] = at[1];
    compat_set_instruction(&at[1], UNARY_NEGATIVE, 0);
    compat_set_instruction(&at[2], POP_TOP, 0);
    return 3;
}
#endif

/* A guard is asked for its truth, and a jump follows. */
static void shorten_guard(_Py_CODEUNIT *at)
{
#ifdef POP_AND_JUMP_IF_TRUE
    if (compat_opcode(at[1]) == UNARY_NEGATIVE && compat_opcode(at[2]) == POP_TOP) {
        compat_set_instruction(&at[1], POP_AND_JUMP_IF_TRUE, 1);
        compat_set_instruction(&at[2], NOP, 0);
    }
    if (compat_opcode(at[1]) == UNARY_NEGATIVE && compat_opcode(at[2]) == POP_AND_JUMP_IF_FALSE) {
        compat_set_instruction(&at[1], NOP, 0);
    }
#else
    (void)at;
#endif
}

static int shorten_at(PyCodeObject *code, _Py_CODEUNIT *at, PyObject *constant, bool is_extended)
{
    bool is_site = is_access_site(constant);
    if (is_guard(constant)) {
        shorten_guard(at);
    }
    else if (is_site || constant == the_tick) {
        if (compat_opcode(at[1]) == UNARY_NEGATIVE && compat_opcode(at[2]) == POP_TOP) {
            shorten_statement(code, at, constant, is_extended);
        }
        else if (is_site) {
            return shorten_operand(at, constant, is_extended);
        }
    }
    return 0;
}

static void shorten(PyCodeObject *code)
{
    _Py_CODEUNIT *at = _PyCode_CODE(code), *end = at + Py_SIZE(code);
    int argument = 0;
    for (; at + 2 < end; at++) {
        argument = argument << 8 | compat_argument(*at);
        PyObject *constant = constant_at(code, *at, argument);
        if (constant != NULL) {
            at += shorten_at(code, at, constant, argument > 0xFF);
        }
        argument = compat_opcode(*at) == EXTENDED_ARG ? argument : 0;
    }
}

/* ---- constants ---- */

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
        else if (constant == the_tick) { /* code objects may share a tuple */
            has_points = true;
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
            if (is_access_site(site)) {
                ((AccessSite *)site)->code = code;
            }
            PyTuple_SET_ITEM(code->co_consts, i, site);
            Py_DECREF(constant);
            has_points = true;
        }
    }
    if (has_points) {
        make_room(code);
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
