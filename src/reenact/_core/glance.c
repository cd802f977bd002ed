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

static int __attribute__((noinline)) later_place(const AccessSite *site, uint32_t version)
{
    for (int i = 1; i < MOST_MANNERS; i++) {
        if (site->manners[i].version == version) {
            return i;
        }
    }
    return -1;
}

/* Is the site's attribute one of the object's own, which nobody else knows? */
static inline bool is_of_own_object(const AccessSite *site, const PyObject *object,
                                    const Thread *thread)
{
    return site->own_version == Py_TYPE(object)->tp_version_tag && is_of_era(object, thread);
}

/* How the site's attribute is found in the object's class, as far as that has no part in it. */
static inline enum Manner manner_in(const AccessSite *site, const PyObject *object,
                                    const Thread *thread)
{
    uint32_t version = Py_TYPE(object)->tp_version_tag;
    int i =
        __builtin_expect(site->manners[0].version == version, 1) ? 0 : later_place(site, version);
    enum Manner manner = i < 0 ? MANNER_UNKNOWN : (enum Manner)site->manners[i].manner;
    bool is_told = manner == MANNER_INHERITED && site->manners[i].epoch == thread->epoch;
    return is_told ? MANNER_OWN : manner;
}

/* Was all told in this epoch that the site has to tell of the object, or could it be in short? */
static inline bool is_told(AccessSite *site, PyObject *object, const Thread *thread)
{
    return memo_is_of(site, object, thread->epoch) || (gate.active && races_repeat(site, object));
}

/* Nobody else knows the object, or what a site does that leads nobody anywhere was told. */
static inline bool is_safe_attribute(AccessSite *site, PyObject *object, const Thread *thread,
                                     bool publishes)
{
    enum Manner manner = manner_in(site, object, thread);
    return manner == MANNER_NOTHING ||
           (manner == MANNER_OWN &&
            (is_of_era(object, thread) || (!publishes && is_told(site, object, thread))));
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

/* What lies below the site on its frame's stack, and below its operand if it stands after that: the
 * operand itself, or the site, is at[0]. NULL if the place is not known. */
static inline PyObject **place_of(const AccessSite *site, const Thread *thread, int after)
{
    if (site->slot == 0 || thread->tstate == NULL) {
        return NULL;
    }
    PyObject **at = &compat_top_frame(thread->tstate)->localsplus[site->slot];
    return *at == (const PyObject *)site ? at - after : NULL;
}

/* ---- shapes ----
 *
 * Each says whether the detector has nothing to learn. *at* is where place_of says, or NULL. */

#define SHAPE(name)                                                                                \
    static inline __attribute__((always_inline)) bool name(AccessSite *site, PyObject *operand,    \
                                                           PyObject **at, const Thread *thread)
#define UNUSED(name) (void)name

/* What an augmented assignment reads it writes right after, which tells as much. */
SHAPE(any)
{
    UNUSED(operand), UNUSED(at), UNUSED(thread);
    return site->pair != 0 && !site->writes;
}

SHAPE(attribute)
{
    UNUSED(at);
    return __builtin_expect(is_of_own_object(site, operand, thread), 1) ||
           is_safe_attribute(site, operand, thread, false);
}

/* Does a value lead nobody to anything? */
static inline bool is_dead_end(const PyObject *value)
{
    return is_number(value) || value == Py_None || PyUnicode_CheckExact(value) ||
           PyBool_Check(value);
}

/* What is written lies right below. */
SHAPE(written_attribute)
{
    bool is_shown = is_of_era(operand, thread) || at == NULL || at[-1] == NULL;
    return is_safe_attribute(site, operand, thread, is_shown || !is_dead_end(at[-1]));
}

SHAPE(method)
{
    UNUSED(at);
    return is_safe_attribute(site, operand, thread, site->writes) ||
           has_plain_contents(operand, thread);
}

SHAPE(contents)
{
    UNUSED(site), UNUSED(at);
    return has_plain_contents(operand, thread);
}

SHAPE(contents_below)
{
    UNUSED(operand);
    PyObject *object = at == NULL ? NULL : at[-site->depth];
    return object != NULL && has_plain_contents(object, thread);
}

SHAPE(both)
{
    UNUSED(site);
    return at != NULL && at[-1] != NULL && has_plain_contents(operand, thread) &&
           has_plain_contents(at[-1], thread);
}

SHAPE(item)
{
    PyObject *object = at == NULL ? NULL : at[-site->depth];
    return object != NULL && (PyUnicode_CheckExact(object) || is_own(object, thread) ||
                              (site->depth == 1 && is_read_item(site, object, operand, thread)));
}

SHAPE(augmented_item)
{
    UNUSED(operand);
    return at != NULL && is_number(at[-1]) && is_own(at[-site->depth], thread);
}

/* A number leads nobody to anything. */
SHAPE(augmented_attribute)
{
    UNUSED(operand);
    return at != NULL && is_number(at[-1]) &&
           is_safe_attribute(site, at[-site->depth], thread, false);
}

/* What is augmented must be a number, too. */
SHAPE(global)
{
    UNUSED(operand);
    return at != NULL && (!site->augments || is_number(at[-1])) &&
           is_told(site, compat_top_frame(thread->tstate)->f_globals, thread);
}

SHAPE(called_method)
{
    UNUSED(operand);
    PyObject *object = at == NULL ? NULL : at[-site->depth];
    if (object == NULL || at[-site->depth - 1] == NULL) {
        return false;
    }
    return is_plain_container(object) ? is_own(object, thread) : attributes_are_all(site, object);
}

SHAPE(turn)
{
    UNUSED(operand);
    PyObject *iterator = at == NULL ? NULL : at[-1];
    if (iterator == NULL) {
        return false;
    }
    PyTypeObject *type = Py_TYPE(iterator);
    PyObject *list = type == &PyListIter_Type ? compat_iterated_list(iterator) : NULL;
    return type == &PyRangeIter_Type || (list != NULL && is_own(list, thread)) ||
           memo_is_of(site, iterator, thread->epoch);
}

/* ---- how sites are asked ---- */

#define IS_ASKED(thread) (__builtin_expect(detector_is_alone && (thread) != NULL, 1))

/* By an operator that has site and operand, and gives back the operand; and by an instruction that
 * has nothing but the site, which lies on its operand, or stands alone (plant.c). Each of them
 * twice: for sites that are ticks, too. */
#define ASKED(shape)                                                                               \
    static inline __attribute__((always_inline)) PyObject *shape##_around(PyObject *self,          \
                                                                          PyObject *operand)       \
    {                                                                                              \
        AccessSite *site = (AccessSite *)self;                                                     \
        const Thread *thread = me;                                                                 \
        plant_after(site);                                                                         \
        if (IS_ASKED(thread) && shape(site, operand, place_of(site, thread, 0), thread)) {         \
            return Py_NewRef(operand);                                                             \
        }                                                                                          \
        return pass_around(site, operand);                                                         \
    }                                                                                              \
    static inline __attribute__((always_inline)) PyObject *shape##_after(PyObject *self)           \
    {                                                                                              \
        AccessSite *site = (AccessSite *)self;                                                     \
        const Thread *thread = me;                                                                 \
        const int after = !is_bare(SHAPE_##shape, site);                                           \
        PyObject **at = IS_ASKED(thread) ? place_of(site, thread, after) : NULL;                   \
        if (at != NULL && shape(site, at[0], at, thread)) {                                        \
            return NULL;                                                                           \
        }                                                                                          \
        return pass_after(site);                                                                   \
    }                                                                                              \
    static PyObject *ask_##shape##_around(PyObject *self, PyObject *operand)                       \
    {                                                                                              \
        return shape##_around(self, operand);                                                      \
    }                                                                                              \
    static PyObject *ask_##shape##_after(PyObject *self)                                           \
    {                                                                                              \
        return shape##_after(self);                                                                \
    }                                                                                              \
    static PyObject *tick_##shape##_around(PyObject *self, PyObject *operand)                      \
    {                                                                                              \
        return tick(me) < 0 ? NULL : shape##_around(self, operand);                                \
    }                                                                                              \
    static PyObject *tick_##shape##_after(PyObject *self)                                          \
    {                                                                                              \
        int result = tick(me);                                                                     \
        return __builtin_expect(result > 0, 1) ? shape##_after(self) : planted_outcome(result);    \
    }

/* clang-format off */
#define SHAPES(X) \
    X(any) X(attribute) X(written_attribute) X(method) \
    X(contents) X(contents_below) X(both) X(item) \
    X(augmented_item) X(augmented_attribute) X(global) X(called_method) X(turn)
/* clang-format on */
#define AS_NUMBER(shape) SHAPE_##shape,
enum Shape { SHAPES(AS_NUMBER) SHAPE_COUNT };

/* Turns stand alone, and so may those of variables; all others have operands. */
static inline bool is_bare(enum Shape shape, const AccessSite *site)
{
    bool may_be = shape == SHAPE_any || shape == SHAPE_global;
    return shape == SHAPE_turn || (may_be && site->is_bare);
}

static PyObject *__attribute__((noinline)) pass_around(AccessSite *site, PyObject *operand)
{
    int result = gate.is_parallel ? lane_site_pass(site, operand) : access_tell(site, operand);
    return result < 0 ? NULL : Py_NewRef(operand);
}

static PyObject *__attribute__((noinline)) pass_after(AccessSite *site)
{
    PyObject *operand = access_below(site, 0);
    if (operand == NULL) {
        return NULL;
    }
    return planted_outcome(access_tell(site, site->is_bare ? Py_True : operand));
}

SHAPES(ASKED)

/* Those that sleep (settled.c) are asked until they are passed over. */

static PyObject *ask_asleep_around(PyObject *self, PyObject *operand)
{
    plant_after((AccessSite *)self);
    return Py_NewRef(operand);
}

static PyObject *ask_asleep_after(PyObject *self)
{
    plant_sleep((AccessSite *)self);
    return NULL;
}

static PyObject *tick_asleep_around(PyObject *self, PyObject *operand)
{
    plant_after((AccessSite *)self);
    return tick(me) < 0 ? NULL : Py_NewRef(operand);
}

static PyObject *tick_asleep_after(PyObject *self)
{
    (void)self;
    int result = tick(me);
    return __builtin_expect(result > 0, 1) ? NULL : planted_outcome(result);
}

/* ---- the types ---- */

static PyObject *matrix_multiply(PyObject *left, PyObject *right)
{
    if (!is_access_site(left)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return Py_TYPE(left)->tp_as_mapping->mp_subscript(left, right);
}

/* Of a variable that is loaded right after this (plant.c): it need not be counted as used twice. */
static PyObject *ask_of_local(AccessSite *site)
{
    PyThreadState *tstate = me != NULL && me->tstate != NULL ? me->tstate : PyThreadState_Get();
    PyObject *operand = compat_top_frame(tstate)->localsplus[site->local - 1];
    if (gate.is_parallel && !site->ticks) {
        return lane_site_pass(site, operand) < 0 ? NULL : Py_NewRef(Py_None);
    }
    PyObject *result = Py_TYPE(site)->tp_as_mapping->mp_subscript((PyObject *)site, operand);
    if (result == NULL) {
        return NULL;
    }
    Py_DECREF(result);
    return Py_NewRef(Py_None);
}

static PyObject *negation(PyObject *self)
{
    AccessSite *site = (AccessSite *)self;
    return site->local != 0 ? ask_of_local(site)
                            : Py_TYPE(self)->tp_as_mapping->mp_subscript(self, Py_True);
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

#define AS_MAPPING(number, how)                                                                    \
    [number] = {.mp_subscript = how##_around, .mp_ass_subscript = planted_raise},
#define AS_TYPE(number, how)                                                                       \
    [number] = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.AccessSite",               \
                .tp_basicsize = sizeof(AccessSite),                                                \
                .tp_flags = Py_TPFLAGS_DEFAULT,                                                    \
                .tp_as_mapping = &mappings[number],                                                \
                .tp_as_number = &site_number,                                                      \
                .tp_iternext = how##_after,                                                        \
                .tp_repr = describe,                                                               \
                .tp_dealloc = site_dealloc},
enum { ASLEEP = 2 * SHAPE_COUNT, TYPES = ASLEEP + 2 };
#define BOTH_MAPPINGS(shape)                                                                       \
    AS_MAPPING(SHAPE_##shape, ask_##shape)                                                         \
    AS_MAPPING(SHAPE_##shape + SHAPE_COUNT, tick_##shape)
#define BOTH_TYPES(shape)                                                                          \
    AS_TYPE(SHAPE_##shape, ask_##shape)                                                            \
    AS_TYPE(SHAPE_##shape + SHAPE_COUNT, tick_##shape)
static PyMappingMethods mappings[] = {SHAPES(BOTH_MAPPINGS) AS_MAPPING(ASLEEP, ask_asleep)
                                          AS_MAPPING(ASLEEP + 1, tick_asleep)};
static PyTypeObject types[] = {SHAPES(BOTH_TYPES) AS_TYPE(ASLEEP, ask_asleep)
                                   AS_TYPE(ASLEEP + 1, tick_asleep)};

bool is_access_site(PyObject *object)
{
    return Py_TYPE(object) >= types && Py_TYPE(object) < types + TYPES;
}

int glance_ready(void)
{
    for (int i = 0; i < TYPES; i++) {
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

static enum Shape shape_of(const AccessSite *site)
{
    if (site->pair != 0 && !site->writes) {
        return SHAPE_any;
    }
    switch (site->kind) {
    case ACCESS_TURN: return SHAPE_turn;
    case ACCESS_BOTH: return SHAPE_both;
    case ACCESS_ATTRIBUTE:
        return site->recalls   ? shape_below(site)
               : site->deletes ? SHAPE_any
               : site->writes  ? SHAPE_written_attribute
                               : SHAPE_attribute;
    case ACCESS_METHOD:
        return site->recalls ? shape_below(site) : site->is_unbound ? SHAPE_any : SHAPE_method;
    case ACCESS_CONTENTS:
    case ACCESS_MEMBER:
        return site->augments ? SHAPE_any : site->recalls ? shape_below(site) : SHAPE_contents;
    case ACCESS_GLOBAL:
        return site->deletes || (site->writes && !site->augments) ? SHAPE_any : SHAPE_global;
    default: return site->recalls ? shape_below(site) : SHAPE_any;
    }
}

/* The type of sites like this one, which has all its fields; or of any, for NULL. */
PyTypeObject *glance_type(const AccessSite *site)
{
    if (site != NULL && site->is_asleep) {
        return &types[ASLEEP + site->ticks];
    }
    return site == NULL ? &types[SHAPE_any]
                        : &types[shape_of(site) + (site->ticks ? SHAPE_COUNT : 0)];
}
