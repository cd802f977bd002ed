/* Outcomes of outside calls, made again from what values.c wrote.
 *
 * Makes plain objects, and instances of known types alone. Counts are bounded by the bytes that
 * are left, and nesting by DEEPEST, so that no recording can make a replay allocate without end. */
#include "values.h"
#include <string.h>

static PyObject *broken(Cursor *cursor)
{
    cursor->broken = true;
    PyErr_Clear();
    return NULL;
}

static const unsigned char *take_bytes(Cursor *cursor, uint64_t size)
{
    const unsigned char *at = cursor->at;
    if (size > (uint64_t)(cursor->end - cursor->at)) {
        cursor->broken = true;
        return NULL;
    }
    cursor->at += size;
    return at;
}

static PyObject *take_value(Cursor *cursor, int depth);

static PyObject *take_items(Cursor *cursor, int depth, bool is_tuple)
{
    uint64_t count = cursor_varint(cursor);
    if (depth == 0 || count > (uint64_t)(cursor->end - cursor->at)) {
        return broken(cursor);
    }
    PyObject *items = is_tuple ? PyTuple_New((Py_ssize_t)count) : PyList_New((Py_ssize_t)count);
    for (uint64_t i = 0; items != NULL && i < count; i++) {
        PyObject *item = take_value(cursor, depth - 1);
        if (item == NULL) {
            Py_DECREF(items);
            return NULL;
        }
        if (is_tuple) {
            PyTuple_SET_ITEM(items, (Py_ssize_t)i, item);
        }
        else {
            PyList_SET_ITEM(items, (Py_ssize_t)i, item);
        }
    }
    return items;
}

static PyObject *take_set(Cursor *cursor, int depth)
{
    PyObject *items = take_items(cursor, depth, false);
    PyObject *set = items == NULL ? NULL : PySet_New(items);
    Py_XDECREF(items);
    return set == NULL ? broken(cursor) : set;
}

static PyObject *take_sized(Cursor *cursor, bool is_text)
{
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = take_bytes(cursor, size);
    if (bytes == NULL) {
        return NULL;
    }
    return is_text ? PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)size, "surrogatepass")
                   : PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
}

static PyObject *take_float(Cursor *cursor)
{
    double number;
    const unsigned char *bytes = take_bytes(cursor, sizeof number);
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(&number, bytes, sizeof number);
    return PyFloat_FromDouble(number);
}

static PyObject *take_long(Cursor *cursor)
{
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = take_bytes(cursor, size);
    return bytes == NULL ? NULL : _PyLong_FromByteArray(bytes, size, 1, 1);
}

static PyObject *take_bytearray(Cursor *cursor)
{
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = take_bytes(cursor, size);
    return bytes == NULL ? NULL
                         : PyByteArray_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
}

static PyObject *take_dict(Cursor *cursor, int depth)
{
    uint64_t count = cursor_varint(cursor);
    PyObject *dict = depth == 0 ? NULL : PyDict_New();
    for (uint64_t i = 0; dict != NULL && i < count; i++) {
        PyObject *key = take_value(cursor, depth - 1);
        PyObject *item = key == NULL ? NULL : take_value(cursor, depth - 1);
        if (item == NULL || PyDict_SetItem(dict, key, item) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return dict == NULL ? broken(cursor) : dict;
}

/* The type of that name; NULL if there is none, or the name is longer than any. */
static PyTypeObject *take_type(Cursor *cursor)
{
    char name[128];
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = size < sizeof name ? take_bytes(cursor, size) : NULL;
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(name, bytes, size);
    name[size] = '\0';
    PyObject *builtin = PyDict_GetItemString(PyEval_GetBuiltins(), name);
    bool is_exception = builtin != NULL && PyExceptionClass_Check(builtin);
    return is_exception ? (PyTypeObject *)builtin : type_of_name(name);
}

static PyObject *take_record(Cursor *cursor, int depth)
{
    PyTypeObject *type = take_type(cursor);
    uint64_t count = cursor_varint(cursor);
    if (depth == 0 || type == NULL || field_count(type) != (Py_ssize_t)count) {
        return broken(cursor);
    }
    PyObject *record = PyStructSequence_New(type);
    for (uint64_t i = 0; record != NULL && i < count; i++) {
        PyObject *field = take_value(cursor, depth - 1);
        if (field == NULL) {
            Py_DECREF(record);
            return NULL;
        }
        ((PyTupleObject *)record)->ob_item[i] = field;
    }
    return record;
}

static PyObject *take_value(Cursor *cursor, int depth)
{
    switch (cursor_varint(cursor)) {
    case TAG_NONE: return cursor->broken ? NULL : Py_NewRef(Py_None);
    case TAG_FALSE: return Py_NewRef(Py_False);
    case TAG_TRUE: return Py_NewRef(Py_True);
    case TAG_INTEGER: return PyLong_FromLongLong(cursor_zigzag(cursor));
    case TAG_FLOAT: return take_float(cursor);
    case TAG_BYTES: return take_sized(cursor, false);
    case TAG_TEXT: return take_sized(cursor, true);
    case TAG_TUPLE: return take_items(cursor, depth, true);
    case TAG_LIST: return take_items(cursor, depth, false);
    case TAG_RECORD: return take_record(cursor, depth);
    case TAG_DICT: return take_dict(cursor, depth);
    case TAG_LONG: return take_long(cursor);
    case TAG_BYTEARRAY: return take_bytearray(cursor);
    case TAG_SET: return take_set(cursor, depth);
    default: return broken(cursor);
    }
}

static PyObject *make_exception(PyTypeObject *type, PyObject *parts)
{
    PyObject *args = PyTuple_GET_ITEM(parts, 0), *made;
    PyObject *file = PyTuple_GET_ITEM(parts, 1), *attributes = PyTuple_GET_ITEM(parts, 3);
    if (!PyTuple_Check(args)) {
        return NULL;
    }
    if (file != Py_None && PyTuple_GET_SIZE(args) == 2) {
        made = PyObject_CallFunction((PyObject *)type, "OOOOO", PyTuple_GET_ITEM(args, 0),
                                     PyTuple_GET_ITEM(args, 1), file, Py_None,
                                     PyTuple_GET_ITEM(parts, 2));
    }
    else {
        made = PyObject_CallObject((PyObject *)type, args);
    }
    if (made != NULL && PyDict_Check(attributes)) {
        PyObject *key, *item;
        Py_ssize_t at = 0;
        while (PyDict_Next(attributes, &at, &key, &item)) {
            if (!PyUnicode_Check(key) || PyObject_SetAttr(made, key, item) < 0) {
                PyErr_Clear();
            }
        }
    }
    return made;
}

/* Raises what was raised; only classes of the builtins and known ones are ever called. */
static bool take_exception(Cursor *cursor)
{
    PyTypeObject *type = take_type(cursor);
    PyObject *parts = type == NULL ? NULL : take_value(cursor, DEEPEST);
    bool fits = parts != NULL && PyTuple_Check(parts) && PyTuple_GET_SIZE(parts) == 4 &&
                PyExceptionClass_Check((PyObject *)type);
    PyObject *made = fits ? make_exception(type, parts) : NULL;
    Py_XDECREF(parts);
    if (made == NULL || !PyExceptionInstance_Check(made)) {
        Py_XDECREF(made);
        broken(cursor);
        return false;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_DECREF(made);
    return true;
}

/* Fills the buffer, and returns the result that follows. */
static PyObject *take_filled(Cursor *cursor, Py_buffer *buffer)
{
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = take_bytes(cursor, size);
    if (bytes == NULL || buffer == NULL || size > (uint64_t)buffer->len) {
        return broken(cursor);
    }
    memcpy(buffer->buf, bytes, size);
    return take_value(cursor, DEEPEST);
}

enum Kept value_take(Py_buffer *buffer, PyObject **value, int *number)
{
    Cursor *cursor = inputs_cursor();
    const unsigned char *before = cursor->at;
    enum Kept kept = KEPT;
    *value = NULL;
    switch (cursor_varint(cursor)) {
    case TAG_PERFORMED: return cursor->broken ? KEPT_BROKEN : KEPT_NOT;
    case TAG_SIGNALLED: *number = (int)cursor_varint(cursor); return KEPT_SIGNAL;
    case TAG_EXCEPTION: return take_exception(cursor) ? KEPT : KEPT_BROKEN;
    case TAG_FILLED: *value = take_filled(cursor, buffer); break;
    case TAG_CALLED:
        *value = take_value(cursor, DEEPEST);
        kept = KEPT_CALLBACK;
        break;
    default: cursor->at = before; *value = take_value(cursor, DEEPEST);
    }
    if (*value == NULL || cursor->broken) {
        Py_CLEAR(*value);
        PyErr_Clear();
        return KEPT_BROKEN;
    }
    return kept;
}
