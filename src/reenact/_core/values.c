/* Outcomes of outside calls as bytes: plain values, exceptions of the builtins, filled buffers.
 *
 * Reading a value makes plain objects only. Counts are bounded by the bytes that are left, and
 * nesting by DEEPEST, so that no recording can make a replay allocate without end. */
#include "core.h"
#include <string.h>

enum Tag {
    TAG_NONE,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INTEGER,
    TAG_FLOAT,
    TAG_BYTES,
    TAG_TEXT,
    TAG_TUPLE,
    TAG_LIST,
    TAG_EXCEPTION,
    TAG_FILLED,    /* a number, and the bytes that were put into the caller's buffer */
    TAG_PERFORMED, /* an outcome that cannot be kept: a replay performs the call */
};
enum { DEEPEST = 16 };

static Stream *out(void)
{
    return &streams[STREAM_INPUTS];
}

static void put_sized(enum Tag tag, const void *bytes, size_t size)
{
    stream_varint(out(), tag);
    stream_varint(out(), size);
    stream_bytes(out(), bytes, size);
}

static bool is_keepable(PyObject *value, int depth)
{
    if (value == Py_None || PyBool_Check(value) || PyFloat_CheckExact(value) ||
        PyBytes_CheckExact(value)) {
        return true;
    }
    if (PyUnicode_CheckExact(value)) {
        return PyUnicode_AsUTF8(value) != NULL || (PyErr_Clear(), false);
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0;
    }
    if (depth == 0 || !(PyTuple_CheckExact(value) || PyList_CheckExact(value))) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); i++) {
        if (!is_keepable(PySequence_Fast_GET_ITEM(value, i), depth - 1)) {
            return false;
        }
    }
    return true;
}

static void put_value(PyObject *value);

static void put_items(enum Tag tag, PyObject *value)
{
    stream_varint(out(), tag);
    stream_varint(out(), (uint64_t)PySequence_Fast_GET_SIZE(value));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); i++) {
        put_value(PySequence_Fast_GET_ITEM(value, i));
    }
}

static void put_value(PyObject *value)
{
    if (value == Py_None || PyBool_Check(value)) {
        stream_varint(out(), value == Py_None ? TAG_NONE : value == Py_True ? TAG_TRUE : TAG_FALSE);
    }
    else if (PyLong_CheckExact(value)) {
        stream_varint(out(), TAG_INTEGER);
        stream_zigzag(out(), PyLong_AsLongLong(value));
    }
    else if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        stream_varint(out(), TAG_FLOAT);
        stream_bytes(out(), &number, sizeof number);
    }
    else if (PyBytes_CheckExact(value)) {
        put_sized(TAG_BYTES, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
    }
    else if (PyUnicode_CheckExact(value)) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(value, &size);
        put_sized(TAG_TEXT, text, (size_t)size);
    }
    else {
        put_items(PyTuple_CheckExact(value) ? TAG_TUPLE : TAG_LIST, value);
    }
}

void value_put(PyObject *value)
{
    if (is_keepable(value, DEEPEST)) {
        put_value(value);
    }
    else {
        stream_varint(out(), TAG_PERFORMED);
    }
}

static bool is_builtin_exception(PyObject *type)
{
    PyObject *module = PyObject_GetAttrString(type, "__module__");
    bool is = module != NULL && PyUnicode_Check(module) &&
              PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return is;
}

/* The exception that is set stays set. */
void value_put_exception(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *args = value == NULL ? NULL : PyObject_GetAttrString(value, "args");
    if (args != NULL && is_builtin_exception(type) && is_keepable(args, DEEPEST)) {
        const char *name = ((PyTypeObject *)type)->tp_name;
        put_sized(TAG_EXCEPTION, name, strlen(name));
        put_value(args);
    }
    else {
        stream_varint(out(), TAG_PERFORMED);
    }
    Py_XDECREF(args);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

void value_put_filled(Py_ssize_t count, const void *bytes)
{
    put_sized(TAG_FILLED, bytes, (size_t)count);
}

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

static PyObject *take_sized(Cursor *cursor, bool is_text)
{
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = take_bytes(cursor, size);
    if (bytes == NULL) {
        return NULL;
    }
    return is_text ? PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)size, NULL)
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
    default: return broken(cursor);
    }
}

/* Raises what was raised; only an exception class of the builtins is ever called. */
static bool take_exception(Cursor *cursor)
{
    PyObject *name = take_sized(cursor, true);
    PyObject *args = name == NULL ? NULL : take_value(cursor, DEEPEST);
    PyObject *builtins = PyEval_GetBuiltins();
    PyObject *type =
        args == NULL || !PyTuple_Check(args) ? NULL : PyDict_GetItemWithError(builtins, name);
    bool known = type != NULL && PyExceptionClass_Check(type);
    if (known) {
        PyErr_SetObject(type, args);
    }
    else {
        broken(cursor);
    }
    Py_XDECREF(name);
    Py_XDECREF(args);
    return known;
}

static PyObject *take_filled(Cursor *cursor, Py_buffer *buffer)
{
    uint64_t size = cursor_varint(cursor);
    const unsigned char *bytes = take_bytes(cursor, size);
    if (bytes == NULL || buffer == NULL || size > (uint64_t)buffer->len) {
        return broken(cursor);
    }
    memcpy(buffer->buf, bytes, size);
    return PyLong_FromUnsignedLongLong(size);
}

enum Kept value_take(Py_buffer *buffer, PyObject **value)
{
    Cursor *cursor = &cursors[STREAM_INPUTS];
    const unsigned char *before = cursor->at;
    *value = NULL;
    switch (cursor_varint(cursor)) {
    case TAG_PERFORMED: return cursor->broken ? KEPT_BROKEN : KEPT_NOT;
    case TAG_EXCEPTION: return take_exception(cursor) ? KEPT : KEPT_BROKEN;
    case TAG_FILLED: *value = take_filled(cursor, buffer); break;
    default: cursor->at = before; *value = take_value(cursor, DEEPEST);
    }
    if (*value == NULL || cursor->broken) {
        Py_CLEAR(*value);
        PyErr_Clear();
        return KEPT_BROKEN;
    }
    return KEPT;
}
