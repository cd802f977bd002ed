/* Access sites: constants in rewritten code that tell what is about to be read or written.
 *
 * `SITE[a].b` takes note of `a` and returns it; `SITE @ value` does the same for values that Python
 * would not let stand in a subscript, and `-SITE` is for what has no value at hand. The rewriter
 * (instrument/accesses.py) leaves a placeholder string for each; plant() swaps it for a site made
 * by access_site() (placeholder.c). For a search, which variable is meant is found out here, with
 * the help of containers.c, and variables.c is told; for the race detector modes.c does that, in
 * more detail.
 *
 * A site that *recalls* stands after its object was evaluated, and after the operands that come
 * between: the object then lies on the frame's own stack, `depth` places below the site. The site
 * finds itself there, so nothing has to be remembered, and what is found is alive. */
#include "races.h"
#include <string.h>

/* ---- where the object is ---- */

static inline Frame *frame_of_site(void)
{
    bool is_known = me != NULL && me->tstate != NULL;
    return compat_top_frame(is_known ? me->tstate : PyThreadState_Get());
}

/* Does the site lie on its operand, and not below it? */
static inline int stands_after(const AccessSite *site, Frame *frame)
{
    return !site->is_bare && compat_is_asked_after(frame);
}

/* What lies below a called method's receiver is looked at, too: the method. */
static inline int deepest(const AccessSite *site)
{
    return site->depth + (site->kind == ACCESS_METHOD && site->recalls);
}

static PyObject **find_place(AccessSite *site, Frame *frame)
{
    PyCodeObject *code = frame == NULL ? NULL : compat_frame_code(frame);
    if (code == NULL) {
        return NULL;
    }
    PyObject **bottom = compat_frame_stack(frame, code), **end = bottom + code->co_stacksize;
    for (PyObject **at = bottom; at < end; at++) {
        if (*at == (PyObject *)site) {
            bool is_deep = at - bottom - stands_after(site, frame) >= deepest(site);
            site->place = (uint16_t)(at - bottom);
            site->slot = (uint16_t)(is_deep ? at - frame->localsplus : 0);
            return at;
        }
    }
    return NULL;
}

/* Where on its frame's stack the site lies, or its operand if that comes first: it is always the
 * same place. NULL if not so many objects lie below. */
static inline PyObject **place_of(AccessSite *site, int below)
{
    Frame *frame = frame_of_site();
    PyObject **at = NULL;
    if (frame != NULL && site->slot != 0) {
        at = &frame->localsplus[site->slot];
    }
    if (at == NULL || *at != (PyObject *)site) {
        at = find_place(site, frame);
    }
    int after = at == NULL ? 0 : stands_after(site, frame);
    return at == NULL || site->place - after < below ? NULL : at - after;
}

/* Borrowed; NULL if there is none. */
PyObject *access_below(AccessSite *site, int depth)
{
    PyObject **at = place_of(site, depth);
    return at == NULL ? NULL : at[-depth];
}

/* What holds the global or closure variable that the site is of: a dict or a cell, borrowed. */
PyObject *access_holder(AccessSite *site)
{
    Frame *frame = frame_of_site();
    PyCodeObject *code = frame == NULL ? NULL : compat_frame_code(frame);
    if (code == NULL) {
        return NULL;
    }
    return site->kind == ACCESS_GLOBAL ? frame->f_globals
                                       : compat_frame_cell(frame, code, site->name);
}

/* The self of a built-in method that is bound, borrowed from it. */
static PyObject *self_of(PyObject *bound)
{
    if (PyCFunction_Check(bound)) {
        return PyCFunction_GET_SELF(bound);
    }
    if (strcmp(Py_TYPE(bound)->tp_name, "method-wrapper") != 0) { /* its type is not published */
        return NULL;
    }
    PyObject *self = PyObject_GetAttrString(bound, "__self__");
    Py_XDECREF(self);
    return self;
}

/* The object whose method is about to be called: under the arguments lie the method and its self
 * or, in either order, a bound method and nothing. */
static PyObject *receiver(AccessSite *site, bool *is_plain)
{
    PyObject *self = access_below(site, site->depth), *method = access_below(site, site->depth + 1);
    *is_plain = self != NULL && method != NULL;
    if (*is_plain) {
        return self;
    }
    PyObject *bound = self == NULL ? method : self;
    return bound == NULL ? NULL : self_of(bound);
}

/* The container whose method is about to be called, or NULL. */
PyObject *access_called(AccessSite *site, PyObject *operand)
{
    bool is_plain = false;
    PyObject *self = NULL;
    if (site->is_unbound) {
        self = site->recalls ? access_below(site, site->depth) : operand;
    }
    else if (site->recalls) {
        self = receiver(site, &is_plain);
    }
    else {
        return container_of_method(operand, site->name);
    }
    if (self == NULL || is_plain) {
        return self == NULL ? NULL : container_of_method(self, site->name);
    }
    return is_container(self) ? self : NULL;
}

/* Names that programs make up, kept so that no other one comes to lie where one was. */
static PyObject *kept_name(PyObject *name)
{
    static PyObject *kept;
    if (!PyUnicode_CheckExact(name)) {
        return NULL;
    }
    if (PyUnicode_CHECK_INTERNED(name)) {
        return name;
    }
    if (kept == NULL) {
        kept = PyDict_New();
    }
    PyObject *interned = Py_NewRef(name);
    PyUnicode_InternInPlace(&interned);
    if (kept == NULL || PyDict_SetItem(kept, interned, interned) < 0) {
        PyErr_Clear();
        Py_DECREF(interned);
        return NULL;
    }
    Py_DECREF(interned);
    return interned;
}

/* Object and name of an attribute that is accessed by its name; NULL if it is none. */
PyObject *access_named(AccessSite *site, PyObject *operand, PyObject **name)
{
    bool is_plain;
    PyObject *object = site->is_bound ? receiver(site, &is_plain) : access_below(site, site->depth);
    *name = site->depth == 1 ? operand : access_below(site, site->depth - 1);
    *name = object == NULL || *name == NULL ? NULL : kept_name(*name);
    return *name == NULL ? NULL : object;
}

static PyObject *object_of_site(AccessSite *site, PyObject *operand)
{
    return site->recalls ? access_below(site, site->depth) : operand;
}

/* ---- taking note ---- */

/* While races are looked for, sites are no points: but in a search they are both. */
static inline bool points_are_wanted(void)
{
    return gate.active && me != NULL && (gate.exploring || sites_are_points);
}

static inline void tell_lane(AccessSite *site, PyObject *object, PyObject *name, bool is_write)
{
    if (name != NULL) {
        classes_tell(me, object, name, is_write);
    }
    if (gate.settings.order == ORDER_LIGHT) {
        bool is_update = is_write && (name == NULL || site->deletes);
        flow_access(me, object, name, is_write, is_update);
    }
    else {
        order_access(me, object, name, is_write);
    }
}

static int tell(AccessSite *site, PyObject *object, PyObject *name, bool is_write)
{
    if (gate.is_parallel) {
        tell_lane(site, object, name, is_write);
        return 0;
    }
    if (accesses_are_watched && watch_access(site, object, name, is_write) < 0) {
        return -1;
    }
    return points_are_wanted() && !gate.has_lanes ? access_point(me, site, object, name, is_write)
                                                  : 0;
}

/* A view, or an iterator that is still to be used up, stands for what it shows. */
static int tell_contents(AccessSite *site, PyObject *object)
{
    if (object != NULL && is_constant(object)) {
        return 0;
    }
    PyObject *container = object == NULL ? NULL : container_of(object);
    if (container != NULL) {
        return tell(site, container, NULL, site->writes);
    }
    PyObject *found[MOST_ITERATED];
    size_t count = object == NULL ? 0 : iterated_by(object, found, 0, 0);
    for (size_t i = 0; i < count; i++) {
        Py_INCREF(found[i]); /* the iterator may let go of it meanwhile */
    }
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        result = result < 0 ? -1 : tell(site, found[i], NULL, false);
        Py_DECREF(found[i]);
    }
    return result;
}

/* `a.b += c` changes the list that a.b is, as well as a. */
static int tell_augmented(AccessSite *site)
{
    return site->augments ? tell_contents(site, access_below(site, 1)) : 0;
}

static int tell_attribute(AccessSite *site, PyObject *object, PyObject *name, bool is_write)
{
    if (object == NULL || (!is_write && has_no_attributes(object))) {
        return 0;
    }
    if (PyModule_Check(object)) { /* the same variable as the module's own code knows it */
        object = PyModule_GetDict(object);
    }
    return tell_augmented(site) < 0 ? -1 : tell(site, object, name, is_write);
}

static int tell_named(AccessSite *site, PyObject *operand)
{
    PyObject *name, *object = access_named(site, operand, &name);
    return tell_attribute(site, object, name, site->writes);
}

static int tell_both(AccessSite *site, PyObject *operand)
{
    return tell_contents(site, access_below(site, 1)) < 0 ? -1 : tell_contents(site, operand);
}

static int tell_method(AccessSite *site, PyObject *object)
{
    PyObject *container = access_called(site, object);
    if (container != NULL) {
        return site->remembers ? 0 : tell(site, container, NULL, site->writes);
    }
    return site->recalls || site->is_unbound ? 0 : tell_attribute(site, object, site->name, false);
}

static int tell_item(AccessSite *site, PyObject *object)
{
    if (object == NULL || has_no_items(object)) {
        return 0;
    }
    return tell_augmented(site) < 0 ? -1 : tell(site, object, NULL, site->writes);
}

static int tell_variable(AccessSite *site)
{
    PyObject *object = access_holder(site);
    if (object == NULL) {
        return 0;
    }
    return tell_augmented(site) < 0 ? -1 : tell(site, object, site->name, site->writes);
}

static int __attribute__((noinline, cold)) take_note(AccessSite *site, PyObject *operand)
{
    switch (site->kind) {
    case ACCESS_ATTRIBUTE:
        return tell_attribute(site, object_of_site(site, operand), site->name, site->writes);
    case ACCESS_NAMED: return tell_named(site, operand);
    case ACCESS_BOTH: return tell_both(site, operand);
    case ACCESS_METHOD: return tell_method(site, operand);
    case ACCESS_ITEM: return tell_item(site, object_of_site(site, operand));
    case ACCESS_MEMBER:
    case ACCESS_CONTENTS: return tell_contents(site, object_of_site(site, operand));
    case ACCESS_TURN: return tell_contents(site, access_below(site, 1));
    case ACCESS_CREATED: return 0;
    default: return tell_variable(site);
    }
}

static inline bool is_wanted(const AccessSite *site)
{
    bool has_points = gate.exploring || sites_are_points;
    bool is_idle = races_are_idle && !has_points && site->kind != ACCESS_CREATED;
    return accesses_are_watched || races_are_watched || (!is_idle && gate.active && me != NULL);
}

static inline bool is_number(PyObject *value)
{
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value);
}

/* What most sites come to, if it can be said in a few steps: the one object that is accessed, else
 * NULL. Names of attributes are the site's; *name* is NULL for what a container holds. */
static inline PyObject *one_object(AccessSite *site, PyObject *operand, PyObject **name)
{
    bool is_plain = site->kind == ACCESS_ATTRIBUTE || site->kind == ACCESS_ITEM;
    PyObject **at = is_plain && site->recalls ? place_of(site, site->depth) : NULL;
    PyObject *object = !is_plain || (site->recalls && at == NULL) ? NULL
                       : site->recalls                            ? at[-site->depth]
                                                                  : operand;
    if (object == NULL || (site->augments && (at == NULL || !is_number(at[-1])))) {
        return NULL;
    }
    *name = site->kind == ACCESS_ATTRIBUTE ? site->name : NULL;
    bool is_known = *name == NULL ? PyList_CheckExact(object) || PyDict_CheckExact(object)
                                  : Py_TYPE(object)->tp_base == &PyBaseObject_Type &&
                                        (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE);
    return is_known ? object : NULL;
}

/* The thread is past the point, and about to access what the site is of. */
static int note_in_lane(AccessSite *site, PyObject *operand, Thread *thread)
{
    PyObject *name, *object = one_object(site, operand, &name);
    if (object != NULL) {
        tell_lane(site, object, name, site->writes);
    }
    else if (take_note(site, operand) < 0) {
        return -1;
    }
    if (!HAS_GIL && thread->lane.wanted_count > 0) {
        turns_settle(thread);
    }
    return 0;
}

/* In a run that is in lanes, with an order of accesses, every site is a point, and what it is of
 * matters to the recorder. In a replay of it others may look as well. */
static int pass_in_lane(AccessSite *site, PyObject *operand)
{
    Thread *thread = gate.active ? me : NULL;
    bool is_point = thread != NULL && gate.settings.order != ORDER_SYNC;
    if (is_point && tick(thread) < 0) {
        return -1;
    }
    if (gate.is_parallel) {
        bool is_noted = is_point && gate.settings.mode == MODE_RECORD;
        return is_noted ? note_in_lane(site, operand, thread) : 0;
    }
    if (accesses_are_watched && take_note(site, operand) < 0) {
        return -1;
    }
    return races_are_on || races_are_watched ? modes_tell(site, operand) : 0;
}

/* The point comes first: what others do meanwhile may change which variable is meant. */
static int pass(AccessSite *site, PyObject *operand)
{
    if (gate.has_lanes) {
        return pass_in_lane(site, operand);
    }
    if ((accesses_are_watched || points_are_wanted()) && take_note(site, operand) < 0) {
        return -1;
    }
    return races_are_on || races_are_watched ? modes_tell(site, operand) : 0;
}

/* May what the site writes lead others to objects of the thread's own? */
static bool publishes(AccessSite *site)
{
    bool has_value = site->kind == ACCESS_ATTRIBUTE || site->kind == ACCESS_ITEM || site->augments;
    if (site->deletes || !has_value) {
        return !site->deletes;
    }
    PyObject *value = access_below(site, site->augments ? 1 : site->depth + 1);
    return value == NULL || !(is_number(value) || value == Py_None || PyBool_Check(value) ||
                              PyUnicode_CheckExact(value) || PyBytes_CheckExact(value));
}

/* The thread is about to write to what others may know: they could find there what it has. */
void access_make_known(AccessSite *site)
{
    if (publishes(site)) {
        me->era = new_era();
    }
}

/* ---- what cannot race ---- */

/* Contents that nobody can change, or nobody but this thread can know. */
static inline bool has_safe_contents(PyObject *object)
{
    return is_constant(object) || (is_private(object) && is_plain_container(object));
}

static bool has_safe_attribute(AccessSite *site, PyObject *object)
{
    return is_private(object) && attributes_are_private(site, object);
}

static bool is_seen_item(AccessSite *site, PyObject *object, PyObject *key)
{
    if (!PyList_CheckExact(object) || key == NULL || !PyLong_CheckExact(key) || site->deletes) {
        return false;
    }
    int overflow;
    long index = PyLong_AsLongAndOverflow(key, &overflow);
    if (index < 0 || index >= PyList_GET_SIZE(object) ||
        !races_repeat_item(site, object, (size_t)index)) {
        return false;
    }
    if (site->writes) {
        access_make_known(site);
    }
    return true;
}

/* The same for a site whose objects lie below it on the stack. */
static bool recalls_safe(AccessSite *site, PyObject *operand)
{
    int depth = site->depth + (site->kind == ACCESS_METHOD);
    PyObject **at = place_of(site, depth);
    if (at == NULL) {
        return false;
    }
    PyObject *object = at[-site->depth];
    if (object == NULL || (site->augments && !is_number(at[-1]))) {
        return false;
    }
    switch (site->kind) {
    case ACCESS_ATTRIBUTE: return has_safe_attribute(site, object);
    case ACCESS_ITEM:
        return is_private(object) || is_constant(object) ||
               is_seen_item(site, object, site->depth == 1 ? operand : at[1 - site->depth]);
    case ACCESS_CONTENTS: return has_safe_contents(object);
    case ACCESS_METHOD: /* of what is no container it tells nothing */
        return !site->is_unbound && at[-depth] != NULL &&
               (is_plain_container(object) ? is_private(object) : attributes_are_all(site, object));
    default: return false;
    }
}

/* Has the race detector nothing to learn from the site? */
static bool is_safe(AccessSite *site, PyObject *operand)
{
    if (site->recalls) {
        return recalls_safe(site, operand);
    }
    switch (site->kind) {
    case ACCESS_ATTRIBUTE: return has_safe_attribute(site, operand);
    case ACCESS_METHOD:
        return !site->is_unbound &&
               (has_safe_contents(operand) || has_safe_attribute(site, operand));
    case ACCESS_CONTENTS:
    case ACCESS_MEMBER: return !site->augments && has_safe_contents(operand);
    case ACCESS_BOTH: {
        PyObject *left = access_below(site, 1);
        return has_safe_contents(operand) && left != NULL && has_safe_contents(left);
    }
    case ACCESS_TURN: {
        PyObject *iterator = access_below(site, 1);
        PyObject *container = iterator == NULL ? NULL : gone_over(iterator);
        return iterator != NULL &&
               ((container != NULL && is_private(container)) ||
                Py_TYPE(iterator) == &PyRangeIter_Type || races_have_seen(site, iterator));
    }
    default: return false;
    }
}

/* The object whose attribute is accessed, as far as the race detector need not be told twice of it;
 * else NULL. */
static inline PyObject *attribute_owner(AccessSite *site, PyObject *operand)
{
    if (!site->recalls) {
        bool is_attribute = site->kind == ACCESS_ATTRIBUTE || site->kind == ACCESS_METHOD;
        return is_attribute && !site->is_unbound ? operand : NULL;
    }
    if (site->kind != ACCESS_ATTRIBUTE || !site->augments) {
        return NULL;
    }
    PyObject **at = place_of(site, site->depth);
    if (at == NULL) {
        return NULL;
    }
    PyObject *value = at[-1]; /* that is augmented: it must be one that cannot be changed */
    return is_number(value) ? at[-site->depth] : NULL;
}

/* Was all that the site has to tell told of late, or could it be in short? */
static bool is_repeated(AccessSite *site, PyObject *operand)
{
    PyObject *object;
    if (site->kind == ACCESS_GLOBAL || site->kind == ACCESS_CLOSURE) {
        object = site->augments ? access_below(site, 1) : NULL;
        if (site->augments && (object == NULL || !is_number(object))) {
            return false;
        }
        object = access_holder(site);
        return object != NULL && races_repeat(site, object);
    }
    object = attribute_owner(site, operand);
    return object != NULL && attributes_repeat(site, object);
}

/* Tells the race detector alone, of what was not safe at a glance. */
static int pass_to_detector(AccessSite *site, PyObject *operand)
{
    if (settled_sleeps(site) || is_safe(site, operand)) {
        return 0;
    }
    if (is_repeated(site, operand)) { /* a number leads nobody to anything, nor does a method */
        if (site->writes && !site->augments && site->kind != ACCESS_METHOD) {
            access_make_known(site);
        }
        return 0;
    }
    if (pass(site, operand) < 0) {
        return -1;
    }
    PyObject *iterator = site->kind == ACCESS_TURN ? access_below(site, 1) : NULL;
    if (iterator != NULL) {
        races_remember_iterator(site, iterator);
    }
    return 0;
}

bool detector_is_alone;

void access_changed(void)
{
    bool is_nobody_else = races_are_on && !gate.exploring && !sites_are_points &&
                          !accesses_are_watched && !races_are_watched && !tape_is_on;
    detector_is_alone = is_nobody_else && !races_are_idle;
    if (!is_nobody_else) {
        settled_wake_all();
    }
}

/* What a site does that could not be done with at a glance (glance.c). */
int access_tell(AccessSite *site, PyObject *operand)
{
    if (detector_is_alone) {
        return me != NULL && gate.active ? pass_to_detector(site, operand) : 0;
    }
    return is_wanted(site) ? pass(site, operand) : 0;
}
