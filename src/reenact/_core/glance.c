/* Sites at a glance: the types of access sites, one for each shape that most programs are made of.
 *
 * What most sites of most programs come to is that the race detector has nothing to learn: the
 * object is the thread's own, or a number, or all was told in this epoch. Each shape asks that in
 * as few steps as it can, calls nothing, and may say no for no reason; then access.c looks closely.
 * Which of these a site is of, is settled when it is made. */
#include "races.h"

/* ---- what cannot race ---- */

static inline bool is_of_era(const PyObject *object, const Thread *thread)
{
    return ERAS[(uintptr_t)object >> 4] == thread->era;
}

static bool __attribute__((noinline)) is_taken_from_free_list(const PyObject *object,
                                                              const Thread *thread)
{
    shadow_settle();
    return is_of_era(object, thread);
}

/* The same for what may come from a free list. */
static inline bool is_own(const PyObject *object, const Thread *thread)
{
    uint32_t era = ERAS[(uintptr_t)object >> 4];
    return era == thread->era || (era == IN_FREE_LIST && is_taken_from_free_list(object, thread));
}

static inline bool is_number(const PyObject *value)
{
    return PyLong_CheckExact(value) || PyFloat_CheckExact(value);
}

static inline bool has_plain_contents(PyObject *object, const Thread *thread)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
        type == &PyFloat_Type || type == &PyTuple_Type || object == Py_None) {
        return true;
    }
    return (type == &PyList_Type || type == &PyDict_Type || type == &PySet_Type ||
            type == deque_type) &&
           is_own(object, thread);
}

/* How the site's attribute is found in the object's class, as far as that has no part in it. */
static inline enum Manner manner_in(const AccessSite *site, const PyObject *object,
                                    const Thread *thread)
{
    uint32_t version = Py_TYPE(object)->tp_version_tag;
    for (int i = 0; i < MOST_MANNERS; i++) {
        if (site->manners[i].version == version) {
            enum Manner manner = site->manners[i].manner;
            bool is_told = manner == MANNER_INHERITED && site->manners[i].epoch == thread->epoch;
            return is_told ? MANNER_OWN : manner;
        }
    }
    return MANNER_UNKNOWN;
}

/* Nobody else knows the object, or what a site does that leads nobody anywhere was told. */
static inline bool is_safe_attribute(const AccessSite *site, const PyObject *object,
                                     const Thread *thread, bool publishes)
{
    enum Manner manner = manner_in(site, object, thread);
    return manner == MANNER_NOTHING ||
           (manner == MANNER_OWN &&
            (is_of_era(object, thread) || (!publishes && memo_is_of(site, object, thread->epoch))));
}

/* An item of a list that others know, which was read in this epoch. */
static inline bool is_read_item(const AccessSite *site, PyObject *object, PyObject *key,
                                const Thread *thread)
{
    if (site->writes || !PyList_CheckExact(object) || !PyLong_CheckExact(key)) {
        return false;
    }
    Py_ssize_t index = compat_small_index(key);
    uint32_t era = ERAS[(uintptr_t)object >> 4];
    if (era == thread->read_atoms || era == thread->read_all) {
        return index >= 0 && index < PyList_GET_SIZE(object);
    }
    uint64_t place = (uintptr_t)object >> 4, where = place << 16 | *shadow_at(object);
    const Items *items = items_recent[place & (RECENT_ITEMS - 1)];
    /* if all were read, the list is to bear the sign of it again */
    return items != NULL && items->where == where && index >= 0 &&
           index < PyList_GET_SIZE(object) &&
           items_is_marked(items, (size_t)index, thread->epoch) &&
           items->marks_set[marks_of(thread->epoch)] != PyList_GET_SIZE(object);
}

/* Where the site lies on its frame's stack, if that is known; else NULL. */
static inline PyObject **place_of(const AccessSite *site, const Thread *thread)
{
    if (site->slot == 0 || thread->tstate == NULL) {
        return NULL;
    }
    PyObject **at = &compat_top_frame(thread->tstate)->localsplus[site->slot];
    return *at == (const PyObject *)site ? at : NULL;
}

/* ---- shapes ---- */

#define IS_ASKED(thread) (__builtin_expect(detector_is_alone && (thread) != NULL, 1))

static PyObject *any(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    /* what an augmented assignment reads it writes right after, which tells as much */
    if (detector_is_alone && me != NULL && site->pair != 0 && !site->writes) {
        return Py_NewRef(operand);
    }
    return access_pass_on(site, operand);
}

static PyObject *attribute(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    if (IS_ASKED(thread) && is_safe_attribute(site, operand, thread, false)) {
        return Py_NewRef(operand);
    }
    return access_pass_on(site, operand);
}

/* Does a value lead nobody to anything? */
static inline bool is_dead_end(const PyObject *value)
{
    return is_number(value) || value == Py_None || PyUnicode_CheckExact(value) ||
           PyBool_Check(value);
}

/* What is written lies right below the site. */
static PyObject *written_attribute(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    if (IS_ASKED(thread)) {
        PyObject **at = is_of_era(operand, thread) ? NULL : place_of(site, thread);
        bool publishes = at == NULL || at[-1] == NULL || !is_dead_end(at[-1]);
        if (is_safe_attribute(site, operand, thread, publishes)) {
            return Py_NewRef(operand);
        }
    }
    return access_pass_on(site, operand);
}

static PyObject *method(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    if (IS_ASKED(thread) && (is_safe_attribute(site, operand, thread, site->writes) ||
                             has_plain_contents(operand, thread))) {
        return Py_NewRef(operand);
    }
    return access_pass_on(site, operand);
}

static PyObject *contents(PyObject *self, PyObject *operand)
{
    const Thread *thread = me;
    if (IS_ASKED(thread) && has_plain_contents(operand, thread)) {
        return Py_NewRef(operand);
    }
    return access_pass_on((AccessSite *)self, operand);
}

static PyObject *contents_below(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    if (IS_ASKED(thread)) {
        PyObject **at = place_of(site, thread);
        PyObject *object = at == NULL ? NULL : at[-site->depth];
        if (object != NULL && has_plain_contents(object, thread)) {
            return Py_NewRef(operand);
        }
    }
    return access_pass_on(site, operand);
}

static PyObject *both(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    if (IS_ASKED(thread)) {
        PyObject **at = place_of(site, thread);
        if (at != NULL && at[-1] != NULL && has_plain_contents(operand, thread) &&
            has_plain_contents(at[-1], thread)) {
            return Py_NewRef(operand);
        }
    }
    return access_pass_on(site, operand);
}

static PyObject *item(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    PyObject **at = IS_ASKED(thread) ? place_of(site, thread) : NULL;
    if (at != NULL) {
        PyObject *object = at[-site->depth];
        if (PyUnicode_CheckExact(object) || is_own(object, thread) ||
            (site->depth == 1 && is_read_item(site, object, operand, thread))) {
            return Py_NewRef(operand);
        }
    }
    return access_pass_on(site, operand);
}

static PyObject *augmented_item(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    PyObject **at = IS_ASKED(thread) ? place_of(site, thread) : NULL;
    if (at != NULL && is_number(at[-1]) && is_own(at[-site->depth], thread)) {
        return Py_NewRef(operand);
    }
    return access_pass_on(site, operand);
}

static PyObject *augmented_attribute(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    PyObject **at = IS_ASKED(thread) ? place_of(site, thread) : NULL;
    if (at != NULL && is_number(at[-1])) { /* a number leads nobody to anything */
        if (is_safe_attribute(site, at[-site->depth], thread, false)) {
            return Py_NewRef(operand);
        }
    }
    return access_pass_on(site, operand);
}

static PyObject *called_method(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    PyObject **at = IS_ASKED(thread) ? place_of(site, thread) : NULL;
    if (at != NULL && site->place > site->depth) {
        PyObject *object = at[-site->depth], *called = at[-site->depth - 1];
        if (object != NULL && called != NULL) {
            bool is_safe = is_plain_container(object) ? is_own(object, thread)
                                                      : attributes_are_all(site, object);
            if (is_safe) {
                return Py_NewRef(operand);
            }
        }
    }
    return access_pass_on(site, operand);
}

static PyObject *turn(PyObject *self, PyObject *operand)
{
    AccessSite *site = (AccessSite *)self;
    const Thread *thread = me;
    PyObject **at = IS_ASKED(thread) ? place_of(site, thread) : NULL;
    PyObject *iterator = at == NULL ? NULL : at[-1];
    if (iterator != NULL) {
        PyTypeObject *type = Py_TYPE(iterator);
        PyObject *list = type == &PyListIter_Type ? compat_iterated_list(iterator) : NULL;
        if (type == &PyRangeIter_Type || (list != NULL && is_own(list, thread)) ||
            memo_is_of(site, iterator, thread->epoch)) {
            return Py_NewRef(operand);
        }
    }
    return access_pass_on(site, operand);
}

/* ---- the types ---- */

static PyObject *matrix_multiply(PyObject *left, PyObject *right)
{
    if (!is_access_site(left)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return Py_TYPE(left)->tp_as_mapping->mp_subscript(left, right);
}

static PyObject *negation(PyObject *self)
{
    return Py_TYPE(self)->tp_as_mapping->mp_subscript(self, Py_True);
}

static int truth(PyObject *self)
{
    PyObject *result = negation(self);
    Py_XDECREF(result);
    return result == NULL ? -1 : 1;
}

static PyObject *describe(PyObject *self)
{
    AccessSite *site = (AccessSite *)self;
    return PyUnicode_FromFormat("<reenact access, line %u>", site->line);
}

static void site_dealloc(PyObject *self)
{
    Py_XDECREF(((AccessSite *)self)->name);
    Py_XDECREF(((AccessSite *)self)->names);
    PyObject_Free(self);
}

static PyNumberMethods site_number = {
    .nb_negative = negation, .nb_bool = truth, .nb_matrix_multiply = matrix_multiply};

/* clang-format off */
#define SHAPES(X) \
    X(any) X(attribute) X(written_attribute) X(method) \
    X(contents) X(contents_below) X(both) X(item) \
    X(augmented_item) X(augmented_attribute) X(called_method) X(turn)
/* clang-format on */
#define AS_NUMBER(shape) SHAPE_##shape,
#define AS_MAPPING(shape) [SHAPE_##shape] = {.mp_subscript = shape},
#define AS_TYPE(shape)                                                                             \
    [SHAPE_##shape] = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.AccessSite",        \
                       .tp_basicsize = sizeof(AccessSite),                                         \
                       .tp_flags = Py_TPFLAGS_DEFAULT,                                             \
                       .tp_as_mapping = &mappings[SHAPE_##shape],                                  \
                       .tp_as_number = &site_number,                                               \
                       .tp_repr = describe,                                                        \
                       .tp_dealloc = site_dealloc},
enum Shape { SHAPES(AS_NUMBER) SHAPE_COUNT };
static PyMappingMethods mappings[] = {SHAPES(AS_MAPPING)};
static PyTypeObject types[] = {SHAPES(AS_TYPE)};

bool is_access_site(PyObject *object)
{
    return Py_TYPE(object) >= types && Py_TYPE(object) < types + SHAPE_COUNT;
}

int glance_ready(void)
{
    for (int i = 0; i < SHAPE_COUNT; i++) {
        if (PyType_Ready(&types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static enum Shape shape_below(const AccessSite *site)
{
    switch (site->kind) {
    case ACCESS_ATTRIBUTE: return site->augments ? SHAPE_augmented_attribute : SHAPE_any;
    case ACCESS_ITEM: return site->augments ? SHAPE_augmented_item : SHAPE_item;
    case ACCESS_CONTENTS: return site->augments ? SHAPE_any : SHAPE_contents_below;
    case ACCESS_METHOD: return site->is_unbound ? SHAPE_any : SHAPE_called_method;
    default: return SHAPE_any;
    }
}

/* The type of sites like this one, which has all its fields; or of any, for NULL. */
PyTypeObject *glance_type(const AccessSite *site)
{
    enum Shape shape = SHAPE_any;
    if (site == NULL || (site->pair != 0 && !site->writes)) {
        return &types[SHAPE_any];
    }
    switch (site->kind) {
    case ACCESS_TURN: shape = SHAPE_turn; break;
    case ACCESS_BOTH: shape = SHAPE_both; break;
    case ACCESS_ATTRIBUTE:
        shape = site->recalls   ? shape_below(site)
                : site->deletes ? SHAPE_any
                : site->writes  ? SHAPE_written_attribute
                                : SHAPE_attribute;
        break;
    case ACCESS_METHOD:
        shape = site->recalls ? shape_below(site) : site->is_unbound ? SHAPE_any : SHAPE_method;
        break;
    case ACCESS_CONTENTS:
    case ACCESS_MEMBER:
        shape = site->augments ? SHAPE_any : site->recalls ? shape_below(site) : SHAPE_contents;
        break;
    default: shape = site->recalls ? shape_below(site) : SHAPE_any; break;
    }
    return &types[shape];
}
