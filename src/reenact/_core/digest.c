/* A fingerprint of objects, and of all that they reach: see debug/digest.py, which says what goes
 * in.
 *
 * Nothing here makes a Python object or runs code of the program's, but for buffers that it gives
 * out: what is looked at must stay what it was. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

/* Addresses that were seen; open addressing, never more than half full. */
typedef struct {
    uintptr_t *slots;
    size_t size, count;
} Seen;

typedef struct {
    PyObject **objects;
    size_t count, space;
} Pile;

typedef struct {
    uint64_t value;
    Seen seen, left_out;
    Pile todo;
    bool has_failed; /* no memory */
} Walk;

static uint64_t mixed(uint64_t value, uint64_t more)
{
    value = (value ^ more) * 0x9E3779B97F4A7C15ULL;
    return value ^ value >> 29;
}

static void add_bytes(Walk *walk, const void *bytes, size_t size)
{
    const char *at = bytes;
    uint64_t word;
    walk->value = mixed(walk->value, size);
    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        walk->value = mixed(walk->value, word);
    }
    word = 0;
    memcpy(&word, at, size);
    walk->value = mixed(walk->value, word);
}

/* ---- addresses ---- */

static uintptr_t *slot_of(const Seen *seen, uintptr_t address)
{
    size_t at = (size_t)mixed(0, address) & (seen->size - 1);
    while (seen->slots[at] != 0 && seen->slots[at] != address) {
        at = (at + 1) & (seen->size - 1);
    }
    return &seen->slots[at];
}

static bool grow(Seen *seen)
{
    Seen larger = {.size = seen->size == 0 ? 1024 : 4 * seen->size, .count = seen->count};
    larger.slots = calloc(larger.size, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < seen->size; i++) {
        if (seen->slots[i] != 0) {
            *slot_of(&larger, seen->slots[i]) = seen->slots[i];
        }
    }
    free(seen->slots);
    *seen = larger;
    return true;
}

static bool is_in(const Seen *seen, const void *object)
{
    return seen->size > 0 && *slot_of(seen, (uintptr_t)object) != 0;
}

/* True if it was not there. */
static bool put_in(Walk *walk, Seen *seen, const void *object)
{
    if (2 * seen->count >= seen->size && !grow(seen)) {
        walk->has_failed = true;
        return false;
    }
    uintptr_t *slot = slot_of(seen, (uintptr_t)object);
    if (*slot != 0) {
        return false;
    }
    *slot = (uintptr_t)object;
    seen->count++;
    return true;
}

static void push(Walk *walk, PyObject *object)
{
    Pile *pile = &walk->todo;
    if (pile->count == pile->space) {
        size_t space = pile->space == 0 ? 1024 : 2 * pile->space;
        PyObject **more = realloc(pile->objects, space * sizeof *more);
        if (more == NULL) {
            walk->has_failed = true;
            return;
        }
        pile->objects = more;
        pile->space = space;
    }
    pile->objects[pile->count++] = object;
}

/* ---- what an object is ---- */

/* Addresses of frames come and go with whoever looks. */
static int visit(PyObject *object, void *given)
{
    Walk *walk = given;
    if (!is_in(&walk->left_out, object)) {
        if (!PyFrame_Check(object)) {
            walk->value = mixed(walk->value, (uintptr_t)object);
        }
        push(walk, object);
    }
    return 0;
}

/* Of the bytes of an array, wherever they lie. */
static void add_buffer(Walk *walk, PyObject *object)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear(); /* it will not show it */
        return;
    }
    if (PyBuffer_IsContiguous(&view, 'A')) {
        add_bytes(walk, view.buf, (size_t)view.len);
    }
    else {
        char *copy = malloc((size_t)view.len);
        if (copy == NULL || PyBuffer_ToContiguous(copy, &view, view.len, 'C') < 0) {
            walk->has_failed = true;
        }
        else {
            add_bytes(walk, copy, (size_t)view.len);
        }
        free(copy);
    }
    PyBuffer_Release(&view);
}

/* By the hash of the type that the interpreter has: a class of the program's may have its own. */
static void add_hash(Walk *walk, PyTypeObject *type, PyObject *object)
{
    walk->value = mixed(walk->value, (uint64_t)type->tp_hash(object));
}

static void add_contents(Walk *walk, PyObject *object)
{
    if (PyUnicode_Check(object)) {
        add_hash(walk, &PyUnicode_Type, object);
    }
    else if (PyLong_Check(object)) {
        add_hash(walk, &PyLong_Type, object);
    }
    else if (PyBytes_Check(object)) {
        add_bytes(walk, PyBytes_AS_STRING(object), (size_t)PyBytes_GET_SIZE(object));
    }
    else if (PyFloat_Check(object)) {
        double number = PyFloat_AS_DOUBLE(object);
        add_bytes(walk, &number, sizeof number);
    }
    else if (PyComplex_Check(object)) {
        Py_complex number = ((PyComplexObject *)object)->cval;
        add_bytes(walk, &number, sizeof number);
    }
    else if (PyObject_CheckBuffer(object)) {
        add_buffer(walk, object);
    }
}

static void look_at(Walk *walk, PyObject *object)
{
    if (PyModule_Check(object) || PyFrame_Check(object) || PyCode_Check(object)) {
        return;
    }
    walk->value = mixed(walk->value, (uintptr_t)object);
    walk->value = mixed(walk->value, (uintptr_t)Py_TYPE(object));
    add_contents(walk, object);
    if (PyObject_IS_GC(object) && Py_TYPE(object)->tp_traverse != NULL) {
        Py_TYPE(object)->tp_traverse(object, visit, walk);
    }
}

static bool leave_out(Walk *walk, PyObject *addresses)
{
    PyObject *iterator = PyObject_GetIter(addresses), *each;
    while (iterator != NULL && (each = PyIter_Next(iterator)) != NULL) {
        const void *address = PyLong_AsVoidPtr(each);
        Py_DECREF(each);
        if (address != NULL) {
            put_in(walk, &walk->left_out, address);
            put_in(walk, &walk->seen, address);
        }
    }
    Py_XDECREF(iterator);
    return !PyErr_Occurred();
}

static void look_at_all(Walk *walk, PyObject *roots)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots) && !walk->has_failed; i++) {
        push(walk, PyList_GET_ITEM(roots, i));
        while (walk->todo.count > 0 && !walk->has_failed) {
            PyObject *object = walk->todo.objects[--walk->todo.count];
            if (put_in(walk, &walk->seen, object)) {
                look_at(walk, object);
            }
        }
    }
}

/* digest(roots, addresses that are left out, value): of a list of objects and all that they reach,
 * after this value */
PyObject *digest_objects(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *roots, *left_out;
    unsigned long long value;
    if (!PyArg_ParseTuple(args, "O!OK", &PyList_Type, &roots, &left_out, &value)) {
        return NULL;
    }
    Walk walk = {.value = value};
    if (leave_out(&walk, left_out)) {
        look_at_all(&walk, roots);
    }
    free(walk.seen.slots);
    free(walk.left_out.slots);
    free(walk.todo.objects);
    if (walk.has_failed) {
        return PyErr_NoMemory();
    }
    return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(walk.value);
}
