/* Regions: may a stretch of code run that has no sites?
 *
 * instrument/regions.py puts a guard before it, and says which variables of the function must be
 * what: objects and lists of the thread's own, numbers and texts. If they are, no code of the
 * program's can run in the region, and nothing in it can race. A loop that reads lists which others
 * know is asked at each turn, in place of the tick: what was found holds as long as no other thread
 * can have run, which they do in ticks that take their time; those are left to the other version.
 * A guard that says no again and again is asked less and less. */
#include "races.h"
#include <string.h>

enum {
    MOST_LEARNED = 100, /* classes: then there are too many kinds of objects */
    MOST_CHECKS = 24,
    MOST_NAMED = 40,
    MOST_SCANNED = 8,
    MOST_SCANNED_BY_LOOPS = 64,
    MOST_ROWS = 4096
};
enum { LOOP = UINT16_MAX, NO_INDEX = UINT16_MAX - 1 }; /* in place of a variable's number */

typedef struct {
    char what;              /* a letter, as in regions.py */
    uint8_t count;          /* of attributes */
    uint16_t local;         /* the number of the variable */
    uint16_t first, second; /* those of the indices */
    uint16_t attributes;    /* the first of them */
    uint32_t version;       /* of the class whose places are known; 0: none */
    PyTypeObject *type;     /* that a value had last */
} Check;

typedef struct {
    PyTypeObject *type;
    uint16_t place; /* among the values of an instance */
    bool may_be_missing;
} Attribute;

struct Region { /* made when the guard is first asked */
    bool is_dead;
    uint32_t learned;
    uint32_t pass_over, patience; /* so often it says no without looking, and how that grows */
    uint32_t count, attribute_count;
    Check checks[MOST_CHECKS];
    Attribute attributes[MOST_NAMED];
    PyObject *names[MOST_NAMED]; /* of the attributes */
};

/* ---- what a guard asks ---- */

static bool __attribute__((noinline)) is_atom(const PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type ||
           type == &PyBool_Type || value == Py_None || type == &PyBytes_Type ||
           type == &PyComplex_Type;
}

/* The same, if most that come here are of one type. */
static inline bool is_atom_of(const PyObject *value, PyTypeObject **type)
{
    if (__builtin_expect(Py_TYPE(value) != *type, 0)) {
        if (!is_atom(value)) {
            return false;
        }
        *type = Py_TYPE(value);
    }
    return true;
}

bool regions_are_atoms(PyObject *list)
{
    PyTypeObject *type = NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (!is_atom_of(PyList_GET_ITEM(list, i), &type)) {
            return false;
        }
    }
    return true;
}

static inline bool is_own_list(PyObject *object, Py_ssize_t longest)
{
    return PyList_CheckExact(object) && is_private(object) && PyList_GET_SIZE(object) <= longest &&
           regions_are_atoms(object);
}

static bool is_text(const PyObject *object)
{
    return PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

/* Where in the instances of a class the attributes lie; false if they are not plain ones. */
static bool __attribute__((noinline)) learn_class(Check *check, AccessSite *site,
                                                  PyTypeObject *type)
{
    Region *region = site->region;
    check->version = 0;
    if (region->learned == MOST_LEARNED) {
        return false;
    }
    region->learned++;
    SharedKeys *keys = (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) == 0
                           ? NULL
                           : (SharedKeys *)((PyHeapTypeObject *)type)->ht_cached_keys;
    if (keys == NULL) {
        return false;
    }
    SharedKey *each = (SharedKey *)(keys->indices + ((size_t)1 << keys->log2_index_bytes));
    for (int i = 0; i < check->count; i++) {
        Py_ssize_t place = 0;
        PyObject *name = region->names[check->attributes + i];
        while (place < keys->count && each[place].name != name) {
            place++;
        }
        if (place == keys->count || !attributes_are_own(site, type, name)) {
            return false;
        }
        region->attributes[check->attributes + i].place = (uint16_t)place;
    }
    check->version = type->tp_version_tag;
    return check->version != 0;
}

static inline bool is_own_object(Check *check, AccessSite *site, PyObject *object,
                                 const Thread *thread)
{
    PyTypeObject *type = Py_TYPE(object);
    if (ERAS[(uintptr_t)object >> 4] != thread->era ||
        ((check->version != type->tp_version_tag || check->version == 0) &&
         !learn_class(check, site, type))) {
        return false;
    }
    PyObject **values;
    compat_instance_dict(object, &values);
    if (values == NULL) {
        return false;
    }
    Attribute *attribute = &site->region->attributes[check->attributes];
    for (const Attribute *end = attribute + check->count; attribute < end; attribute++) {
        const PyObject *value = values[attribute->place];
        if (value == NULL ? !attribute->may_be_missing : !is_atom_of(value, &attribute->type)) {
            return false;
        }
    }
    return true;
}

/* ---- items that are read by an index ---- */

typedef struct {
    Py_ssize_t first, last, step;
} Indices;

/* What the loop runs over from now on. */
static bool rest_of_loop(AccessSite *site, PyObject *now, Indices *indices)
{
    PyObject *iterator = access_below(site, 1);
    if (iterator == NULL || Py_TYPE(iterator) != &PyRangeIter_Type || now == NULL ||
        !PyLong_CheckExact(now)) {
        return false;
    }
    Py_ssize_t step, left = compat_range_left(iterator, &step);
    indices->first = compat_small_index(now);
    indices->step = step;
    bool is_far = left > 0 && (step <= 0 || step > MOST_ROWS || left > (1 << 30));
    indices->last = is_far ? PY_SSIZE_T_MAX : indices->first + (left > 0 ? left * step : 0);
    return indices->first >= 0;
}

static bool indices_of(uint16_t local, PyObject **locals, const Indices *loop, Indices *indices)
{
    if (local == LOOP) {
        *indices = *loop;
        return true;
    }
    PyObject *index = locals[local];
    if (index == NULL || !PyLong_CheckExact(index)) {
        return false;
    }
    indices->first = indices->last = compat_small_index(index);
    indices->step = 1;
    return indices->first >= 0;
}

/* May these items of the list be read without a word? They are all numbers, texts or the like. */
static bool are_told(PyObject *list, const Indices *indices, const Thread *thread)
{
    return (PyList_CheckExact(list) && ERAS[(uintptr_t)list >> 4] == thread->read_atoms &&
            indices->last < PyList_GET_SIZE(list)) ||
           is_own_list(list, MOST_SCANNED_BY_LOOPS);
}

static bool are_rows_told(PyObject *list, const Indices *rows, const Indices *columns,
                          const Thread *thread)
{
    uint32_t era = ERAS[(uintptr_t)list >> 4];
    if (!PyList_CheckExact(list) || (era != thread->read_all && !is_private(list)) ||
        rows->last >= PyList_GET_SIZE(list) || rows->last - rows->first > MOST_ROWS) {
        return false;
    }
    for (Py_ssize_t i = rows->first; i <= rows->last; i += rows->step) {
        if (!are_told(PyList_GET_ITEM(list, i), columns, thread)) {
            return false;
        }
    }
    return true;
}

static bool is_read_path(const Check *check, PyObject *object, PyObject **locals,
                         const Indices *loop, const Thread *thread)
{
    Indices first, second;
    if (check->second == NO_INDEX && is_text(object)) {
        return true;
    }
    if (!indices_of(check->first, locals, loop, &first)) {
        return false;
    }
    if (check->second == NO_INDEX) {
        return are_told(object, &first, thread);
    }
    return indices_of(check->second, locals, loop, &second) &&
           are_rows_told(object, &first, &second, thread);
}

/* ---- guards ---- */

static bool holds(AccessSite *site, PyObject **locals, const Thread *thread)
{
    Region *region = site->region;
    Indices loop = {0, 0, 1};
    Py_ssize_t longest = MOST_SCANNED;
    for (uint32_t i = 0; i < region->count; i++) {
        Check *check = &region->checks[i];
        PyObject *object = locals[check->local];
        bool is_right;
        if (check->what == 's') {
            longest = MOST_SCANNED_BY_LOOPS;
            continue;
        }
        if (object == NULL) {
            is_right = check->what == 'v';
        }
        else {
            switch (check->what) {
            case 'v': is_right = is_atom_of(object, &check->type); break;
            case 'o': is_right = is_own_object(check, site, object, thread); break;
            case 'l': is_right = is_text(object) || is_own_list(object, longest); break;
            case 'w': is_right = is_own_list(object, longest); break;
            case 't': is_right = rest_of_loop(site, object, &loop); break;
            default: is_right = is_read_path(check, object, locals, &loop, thread);
            }
        }
        if (!is_right) {
            return false;
        }
    }
    return true;
}

/* The number of a variable that nobody but the function has; NO_INDEX if there is none. */
static uint16_t local_of(const PyCodeObject *code, PyObject *name)
{
    for (int i = 0; i < code->co_nlocalsplus; i++) {
        unsigned char kind = (unsigned char)PyBytes_AS_STRING(code->co_localspluskinds)[i];
        bool is_plain = (kind & CO_FAST_LOCAL) && !(kind & (CO_FAST_CELL | CO_FAST_FREE));
        if (is_plain &&
            PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames, i), name) == 0) {
            return (uint16_t)i;
        }
    }
    return NO_INDEX;
}

static bool settle_index(const PyCodeObject *code, PyObject *name, uint16_t *index)
{
    *index = PyUnicode_CompareWithASCIIString(name, "*") == 0 ? LOOP : local_of(code, name);
    return *index != NO_INDEX;
}

static bool settle_names(Region *region, Check *check, PyObject *text)
{
    PyObject *comma = PyUnicode_FromString(",");
    PyObject *names = comma == NULL ? NULL : PyUnicode_Split(text, comma, -1);
    uint32_t first = region->attribute_count;
    Py_ssize_t count = names == NULL ? MOST_NAMED + 1 : PyList_GET_SIZE(names);
    bool is_right = first + count <= MOST_NAMED;
    for (Py_ssize_t i = 0; is_right && i < count; i++) {
        PyObject *name = PyList_GET_ITEM(names, i);
        bool has_sign = PyUnicode_READ_CHAR(name, 0) == '+';
        name = PyUnicode_Substring(name, has_sign, PyUnicode_GET_LENGTH(name));
        if (name != NULL) {
            PyUnicode_InternInPlace(&name); /* kept: the code that has it is */
        }
        region->names[first + i] = name;
        region->attributes[first + i].may_be_missing = has_sign;
    }
    Py_XDECREF(comma);
    Py_XDECREF(names);
    check->attributes = (uint16_t)first;
    check->count = (uint8_t)(is_right ? count : 0);
    region->attribute_count += check->count;
    return is_right;
}

/* LETTER:NAME, and more after another colon or two */
static bool settle_check(Region *region, Check *check, const PyCodeObject *code, PyObject *word)
{
    PyObject *colon = PyUnicode_FromString(":");
    PyObject *parts = colon == NULL ? NULL : PyUnicode_Split(word, colon, -1);
    Py_ssize_t count = parts == NULL ? 0 : PyList_GET_SIZE(parts);
    bool is_right = count >= 2;
    if (is_right) {
        check->what = (char)PyUnicode_READ_CHAR(word, 0);
        bool has_name = check->what != 's';
        check->local = has_name ? local_of(code, PyList_GET_ITEM(parts, 1)) : 0;
        check->first = check->second = NO_INDEX;
        is_right = check->local != NO_INDEX;
    }
    if (is_right && check->what == 'o') {
        is_right = count == 3 && settle_names(region, check, PyList_GET_ITEM(parts, 2));
    }
    if (is_right && check->what == 'p') {
        is_right = count >= 3 && settle_index(code, PyList_GET_ITEM(parts, 2), &check->first) &&
                   (count == 3 || settle_index(code, PyList_GET_ITEM(parts, 3), &check->second));
    }
    Py_XDECREF(colon);
    Py_XDECREF(parts);
    return is_right;
}

static void settle_region(AccessSite *site, const PyCodeObject *code)
{
    Region *region = PyMem_RawCalloc(1, sizeof *region);
    site->region = region;
    if (region == NULL) {
        return;
    }
    PyObject *words = PyUnicode_Split(site->name, NULL, -1);
    Py_ssize_t count = words == NULL ? MOST_CHECKS + 1 : PyList_GET_SIZE(words);
    bool is_right = count <= MOST_CHECKS;
    for (Py_ssize_t i = 0; is_right && i < count; i++) {
        is_right = settle_check(region, &region->checks[i], code, PyList_GET_ITEM(words, i));
    }
    region->count = is_right ? (uint32_t)count : 0;
    region->is_dead = !is_right;
    Py_XDECREF(words);
    PyErr_Clear();
}

static bool __attribute__((noinline)) look(AccessSite *site, Frame *frame, Thread *thread)
{
    Region *region = site->region;
    if (region == NULL) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL) {
            settle_region(site, code);
        }
        region = site->region;
        if (region == NULL) {
            return false;
        }
    }
    bool is_traced = thread->tstate->c_tracefunc != NULL; /* that is code of the program's */
    if (!region->is_dead && !is_traced && holds(site, frame->localsplus, thread)) {
        region->patience = 0;
        return true;
    }
    region->patience = region->patience < 8192 ? region->patience * 2 + 1 : region->patience;
    region->pass_over = region->patience;
    return false;
}

/* Is a guard that has said no so often not to be asked this time? */
static inline bool is_passed_over(const AccessSite *site)
{
    Region *region = site->region;
    if (region == NULL || region->pass_over == 0) {
        return false;
    }
    region->pass_over--;
    return true;
}

static inline Frame *frame_now(const Thread *thread)
{
    bool is_asked = detector_is_alone && thread != NULL && thread->tstate != NULL;
    return is_asked ? compat_top_frame(thread->tstate) : NULL;
}

/* A guard's tick, if it is one: 0 if that is done. */
static inline int tick_first(PyObject *self)
{
    return ((AccessSite *)self)->ticks && tick(me) < 0 ? -1 : 0;
}

static int piece(PyObject *self)
{
    if (tick_first(self) < 0) {
        return -1;
    }
    if (is_passed_over((AccessSite *)self)) {
        return 0;
    }
    Thread *thread = me;
    Frame *frame = frame_now(thread);
    return frame != NULL && look((AccessSite *)self, frame, thread);
}

static int turn(PyObject *self)
{
    Thread *thread = me;
    Frame *frame = frame_now(thread);
    if (frame == NULL) {
        return 0;
    }
    AccessSite *site = (AccessSite *)self;
    bool is_known = thread->region == site && thread->region_frame == frame;
    if (thread->budget > 1 && (is_known || (!is_passed_over(site) && look(site, frame, thread)))) {
        thread->region = site;
        thread->region_frame = frame;
        thread->budget--;
        return 1;
    }
    thread->region = NULL;
    return 0;
}

/* What was known of an earlier loop in a frame that lay here is known no more. */
static int entry(PyObject *self)
{
    if (tick_first(self) < 0) {
        return -1;
    }
    if (me != NULL) {
        me->region = NULL;
    }
    return 1;
}

/* ---- the types ---- */

static PyObject *negation(PyObject *self)
{
    int result = Py_TYPE(self)->tp_as_number->nb_bool(self);
    return result < 0 ? NULL : PyBool_FromLong(result);
}

static void guard_dealloc(PyObject *self)
{
    AccessSite *site = (AccessSite *)self;
    for (uint32_t i = 0; site->region != NULL && i < site->region->attribute_count; i++) {
        Py_XDECREF(site->region->names[i]);
    }
    PyMem_RawFree(site->region);
    Py_XDECREF(site->name);
    PyObject_Free(self);
}

static PyNumberMethods numbers[] = {{.nb_negative = negation, .nb_bool = piece},
                                    {.nb_negative = negation, .nb_bool = turn},
                                    {.nb_negative = negation, .nb_bool = entry}};
#define GUARD_TYPE(number)                                                                         \
    {                                                                                              \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Guard",                            \
        .tp_basicsize = sizeof(AccessSite),                                                        \
        .tp_flags = Py_TPFLAGS_DEFAULT,                                                            \
        .tp_as_number = &numbers[number],                                                          \
        .tp_dealloc = guard_dealloc,                                                               \
    }
static PyTypeObject types[] = {GUARD_TYPE(0), GUARD_TYPE(1), GUARD_TYPE(2)};
enum { TYPES = sizeof types / sizeof *types };

int regions_ready(void)
{
    for (int i = 0; i < TYPES; i++) {
        if (PyType_Ready(&types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

bool is_guard(PyObject *object)
{
    bool is_of_region = Py_TYPE(object) >= types && Py_TYPE(object) < types + TYPES;
    return is_of_region || Py_TYPE(object) == &ColdType;
}

/* The type of guards of this kind. */
PyTypeObject *regions_type(enum AccessKind kind)
{
    return &types[kind - ACCESS_PIECE];
}
