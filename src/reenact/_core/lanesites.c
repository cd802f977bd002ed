/* Sites of a run in lanes: a point, and what is about to be accessed.
 *
 * Most sites access one thing, which can be said in a few steps from the site and the stack of its
 * frame; the others are done by access.c. Only a recorder of the order of accesses takes note of
 * it (order.c, flow.c). In a replay by the serial engine others may look as well. */
#include "races.h"

static inline Frame *frame_of(const Thread *thread)
{
    return compat_top_frame(thread->tstate != NULL ? thread->tstate : PyThreadState_Get());
}

/* The site's own place on its frame's stack, or its operand's if that comes first, if it is where
 * it was the last time. */
static inline PyObject **place_of(AccessSite *site, Thread *thread, int below)
{
    if (site->slot == 0) {
        return NULL;
    }
    Frame *frame = frame_of(thread);
    PyObject **at = &frame->localsplus[site->slot];
    int after = !site->is_bare && compat_is_asked_after(frame);
    return *at == (PyObject *)site && site->place - after >= below ? at - after : NULL;
}

static inline bool is_number(PyObject *value)
{
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value);
}

static inline bool is_plain_list(PyObject *object)
{
    return PyList_CheckExact(object) || PyDict_CheckExact(object);
}

/* Of a class of the program's own, which is no container. Classes of C code, such as deque, may lie
 * on the heap as well, but nobody can change them. */
static inline bool is_plain_instance(PyObject *object)
{
    const PyTypeObject *type = Py_TYPE(object);
    unsigned long kind = type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE);
    return type->tp_base == &PyBaseObject_Type && kind == Py_TPFLAGS_HEAPTYPE;
}

/* What a site accesses, if it can be said in a few steps; *object* is NULL if it accesses nothing,
 * and *name* for what a container holds. */
typedef struct {
    bool is_known;
    PyObject *object, *name;
    bool writes;
} Target;

static const Target UNCLEAR = {false, NULL, NULL, false}, NO_ACCESS = {true, NULL, NULL, false};

static inline Target contents(PyObject *object, bool writes)
{
    return object != NULL && is_plain_list(object) ? (Target){true, object, NULL, writes} : UNCLEAR;
}

static inline Target attribute(AccessSite *site, PyObject *object, bool writes)
{
    return object != NULL && is_plain_instance(object) ? (Target){true, object, site->name, writes}
                                                       : UNCLEAR;
}

/* Under the arguments lie the method and its object. */
static inline Target called(AccessSite *site, Thread *thread)
{
    PyObject **at = place_of(site, thread, site->depth + 1);
    PyObject *self = at == NULL ? NULL : at[-site->depth];
    if (site->is_unbound || self == NULL || at[-site->depth - 1] == NULL) {
        return UNCLEAR;
    }
    return is_plain_instance(self) || site->remembers ? NO_ACCESS : contents(self, site->writes);
}

static inline Target method(AccessSite *site, PyObject *operand, Thread *thread)
{
    if (site->recalls) {
        return called(site, thread);
    }
    if (site->is_unbound) {
        return UNCLEAR;
    }
    if (is_plain_list(operand)) {
        return site->remembers ? NO_ACCESS : contents(operand, site->writes);
    }
    return attribute(site, operand, false);
}

static inline Target turn(AccessSite *site, Thread *thread)
{
    PyObject **at = place_of(site, thread, 1), *iterator = at == NULL ? NULL : at[-1];
    if (iterator == NULL) {
        return UNCLEAR;
    }
    if (Py_TYPE(iterator) == &PyRangeIter_Type) {
        return NO_ACCESS;
    }
    bool is_lists = Py_TYPE(iterator) == &PyListIter_Type;
    return is_lists ? contents(compat_iterated_list(iterator), site->writes) : UNCLEAR;
}

static inline Target target_of(AccessSite *site, PyObject *operand, Thread *thread)
{
    PyObject **at = NULL;
    if (site->kind == ACCESS_METHOD) {
        return method(site, operand, thread);
    }
    if (site->kind == ACCESS_TURN) {
        return turn(site, thread);
    }
    if (site->recalls || site->augments) {
        at = place_of(site, thread, site->depth > 1 ? site->depth : 1);
        if (at == NULL || (site->augments && (at[-1] == NULL || !is_number(at[-1])))) {
            return UNCLEAR;
        }
    }
    PyObject *object = site->recalls ? at[-site->depth] : operand;
    switch (site->kind) {
    case ACCESS_ATTRIBUTE: return attribute(site, object, site->writes);
    case ACCESS_ITEM: return contents(object, site->writes);
    case ACCESS_CONTENTS:
    case ACCESS_MEMBER: return site->augments ? UNCLEAR : contents(object, site->writes);
    case ACCESS_GLOBAL:
        return (Target){true, frame_of(thread)->f_globals, site->name, site->writes};
    default: return UNCLEAR;
    }
}

/* ---- taking note ---- */

void lane_site_tell(AccessSite *site, PyObject *object, PyObject *name, bool is_write)
{
    if (__builtin_expect(baseline_is_on, 0)) {
        baseline_access(me, object, name, is_write);
        return;
    }
    is_write = is_write || classes_make_dict(object, name) ||
               (site->kind == ACCESS_ITEM && fills_itself(object));
    bool is_update = is_write && (name == NULL || site->deletes);
    if (name != NULL) {
        classes_tell(me, object, name, is_write);
    }
    access_in_order(me, object, name, is_write, is_update);
    bool is_of_module = site->kind != ACCESS_GLOBAL && PyDict_CheckExact(object);
    if (!HAS_GIL && is_of_module && !is_write && name != NULL) {
        imports_tell_missing(me, object, name);
    }
    if (name == classes_dict_name) {
        classes_open(me, Py_TYPE(object));
    }
}

int lane_sites_begin(void)
{
    classes_dict_name = PyUnicode_InternFromString("__dict__");
    return classes_dict_name == NULL ? -1 : 0;
}

/* Items of lists are found without asking the program, and so is what an iterator comes to. */
static inline bool may_call_back(const AccessSite *site, PyObject *object)
{
    return !PyList_CheckExact(object) || (site->kind != ACCESS_ITEM && site->kind != ACCESS_TURN);
}

static inline int want(AccessSite *site, PyObject *operand, Thread *thread)
{
    Target target = target_of(site, operand, thread);
    if (!target.is_known) {
        if (access_note(site, operand) < 0) {
            return -1;
        }
    }
    else if (target.object != NULL) {
        lane_site_tell(site, target.object, target.name, target.writes);
        if (!may_call_back(site, target.object)) {
            thread->lane.wanted->is_container = false;
        }
    }
    return 0;
}

/* The thread is past the point, and about to access what the site is of. */
static inline int note(AccessSite *site, PyObject *operand, Thread *thread)
{
    bool is_settled;
    do {
        thread->lane.without_dict = NULL;
        if (want(site, operand, thread) < 0) {
            return -1;
        }
        PyObject *told = thread->lane.without_dict;
        is_settled = HAS_GIL || thread->lane.wanted_count == 0 || turns_settle_at_once(thread) ||
                     turns_settle_if(thread, told == NULL ? NULL : classes_are_as_told, told);
    } while (!is_settled && gate.active);
    return 0;
}

/* In a run that is in lanes, with an order of accesses, every site is a point, and what it is of
 * matters to the recorder. In a replay of it others may look as well. */
int lane_site_pass(AccessSite *site, PyObject *operand)
{
    Thread *thread = gate.active ? me : NULL;
    bool is_point = thread != NULL && gate.settings.order != ORDER_SYNC && !site->is_quiet;
    if (is_point && tick(thread) < 0) {
        return -1;
    }
    if (gate.is_parallel) {
        bool is_noted = is_point && gate.settings.mode == MODE_RECORD;
        return is_noted ? note(site, operand, thread) : 0;
    }
    if (accesses_are_watched && access_note(site, operand) < 0) {
        return -1;
    }
    return races_are_on || races_are_watched ? modes_tell(site, operand) : 0;
}
