/* Outcomes of outside calls as bytes: plain values, records and exceptions, filled buffers.
 *
 * Plain values are kept, and instances of the types that know_type() was told of: struct
 * sequences (os.stat_result) and exceptions. recalled.c makes them again. */
#include "values.h"
#include <string.h>

enum { MOST_TYPES = 128 };

static struct {
    const char *name;
    PyTypeObject *type;
} known[MOST_TYPES];
static int known_count;

/* know_type(name, type) */
static PyObject *know_type(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    PyTypeObject *type;
    if (!PyArg_ParseTuple(args, "sO!", &name, &PyType_Type, &type)) {
        return NULL;
    }
    int i = 0;
    while (i < known_count && strcmp(known[i].name, name) != 0) {
        i++;
    }
    if (i == MOST_TYPES) {
        PyErr_SetString(PyExc_RuntimeError, "too many types");
        return NULL;
    }
    known[i].name = i < known_count ? known[i].name : strdup(name);
    known[i].type = (PyTypeObject *)Py_NewRef(type);
    known_count += i == known_count;
    Py_RETURN_NONE;
}

/* is_plain(value): whether an outcome of a call can be this */
static PyObject *is_plain(PyObject *module, PyObject *value)
{
    (void)module;
    return PyBool_FromLong(value_is_keepable(value));
}

PyMethodDef value_functions[] = {{"know_type", know_type, METH_VARARGS, NULL},
                                 {"is_plain", is_plain, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};

const char *name_of_type(PyTypeObject *type)
{
    for (int i = 0; i < known_count; i++) {
        if (known[i].type == type) {
            return known[i].name;
        }
    }
    return NULL;
}

PyTypeObject *type_of_name(const char *name)
{
    for (int i = 0; i < known_count; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].type;
        }
    }
    return NULL;
}

/* How many fields a struct sequence has, unnamed and hidden ones included; -1 if it is none. */
Py_ssize_t field_count(PyTypeObject *type)
{
    PyObject *count = PyDict_GetItemString(compat_type_dict(type), "n_fields");
    return count == NULL ? -1 : PyLong_AsSsize_t(count);
}

static Stream *out(void)
{
    return inputs_stream();
}

static void put_sized(enum Tag tag, const void *bytes, size_t size)
{
    unsigned char *start = stream_reserve(out(), size + 2 * LONGEST_VARINT);
    if (start != NULL) {
        unsigned char *at = put_varint(put_varint(start, tag), size);
        memcpy(at, bytes, size);
        stream_advance(out(), (size_t)(at - start) + size);
    }
}

static bool is_keepable(PyObject *value, int depth);

static bool are_keepable(PyObject *const *items, Py_ssize_t count, int depth)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] != NULL && !is_keepable(items[i], depth)) {
            return false;
        }
    }
    return true;
}

static bool is_keepable_dict(PyObject *value, int depth)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    while (PyDict_Next(value, &at, &key, &item)) {
        if (!is_keepable(key, depth) || !is_keepable(item, depth)) {
            return false;
        }
    }
    return true;
}

static bool is_keepable_set(PyObject *value, int depth)
{
    PyObject *items = PySequence_List(value);
    bool result = items != NULL && is_keepable(items, depth);
    Py_XDECREF(items);
    return result;
}

static bool is_keepable(PyObject *value, int depth)
{
    if (value == Py_None || PyBool_Check(value) || PyFloat_CheckExact(value) ||
        PyBytes_CheckExact(value) || PyLong_CheckExact(value) || PyUnicode_CheckExact(value) ||
        PyByteArray_CheckExact(value)) {
        return true;
    }
    if (depth == 0) {
        return false;
    }
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
        return are_keepable(PySequence_Fast_ITEMS(value), PySequence_Fast_GET_SIZE(value),
                            depth - 1);
    }
    if (PyDict_CheckExact(value)) {
        return is_keepable_dict(value, depth - 1);
    }
    if (PySet_CheckExact(value)) {
        return is_keepable_set(value, depth);
    }
    return PyTuple_Check(value) && name_of_type(Py_TYPE(value)) != NULL &&
           are_keepable(((PyTupleObject *)value)->ob_item, field_count(Py_TYPE(value)), depth - 1);
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

static void put_set(PyObject *value)
{
    PyObject *items = PySequence_List(value);
    if (items != NULL) {
        put_items(TAG_SET, items);
        Py_DECREF(items);
    }
}

static void put_integer(PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
        stream_varint(out(), TAG_INTEGER);
        stream_zigzag(out(), number);
        return;
    }
    size_t size = _PyLong_NumBits(value) / 8 + 1;
    unsigned char *bytes = PyMem_RawMalloc(size);
    if (bytes != NULL && compat_long_as_bytes(value, bytes, size) == 0) {
        put_sized(TAG_LONG, bytes, size);
    }
    PyMem_RawFree(bytes);
}

/* Lone surrogates, as in file names that are no UTF-8, are kept. */
static void put_text(PyObject *value)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text != NULL) {
        put_sized(TAG_TEXT, text, (size_t)size);
        return;
    }
    PyErr_Clear();
    PyObject *bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
    if (bytes != NULL) {
        put_sized(TAG_TEXT, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
        Py_DECREF(bytes);
    }
}

static void put_dict(PyObject *value)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    stream_varint(out(), TAG_DICT);
    stream_varint(out(), (uint64_t)PyDict_GET_SIZE(value));
    while (PyDict_Next(value, &at, &key, &item)) {
        put_value(key);
        put_value(item);
    }
}

static void put_record(PyObject *value)
{
    const char *name = name_of_type(Py_TYPE(value));
    Py_ssize_t count = field_count(Py_TYPE(value));
    put_sized(TAG_RECORD, name, strlen(name));
    stream_varint(out(), (uint64_t)count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *field = ((PyTupleObject *)value)->ob_item[i];
        put_value(field == NULL ? Py_None : field);
    }
}

static void put_value(PyObject *value)
{
    if (value == Py_None || PyBool_Check(value)) {
        stream_varint(out(), value == Py_None ? TAG_NONE : value == Py_True ? TAG_TRUE : TAG_FALSE);
    }
    else if (PyLong_CheckExact(value)) {
        put_integer(value);
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
        put_text(value);
    }
    else if (PyByteArray_CheckExact(value)) {
        put_sized(TAG_BYTEARRAY, PyByteArray_AS_STRING(value), (size_t)PyByteArray_GET_SIZE(value));
    }
    else if (PyDict_CheckExact(value)) {
        put_dict(value);
    }
    else if (PySet_CheckExact(value)) {
        put_set(value);
    }
    else if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) {
        put_record(value);
    }
    else {
        put_items(PyTuple_CheckExact(value) ? TAG_TUPLE : TAG_LIST, value);
    }
}

bool value_is_keepable(PyObject *value)
{
    return is_keepable(value, DEEPEST);
}

void value_put(PyObject *value)
{
    if (PyBytes_CheckExact(value)) {
        put_sized(TAG_BYTES, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value));
    }
    else if (is_keepable(value, DEEPEST)) {
        put_value(value);
    }
    else {
        stream_varint(out(), TAG_PERFORMED);
    }
}

void value_put_performed(void)
{
    stream_varint(out(), TAG_PERFORMED);
}

void value_put_called_back(PyObject *value)
{
    stream_varint(out(), TAG_CALLED);
    put_value(value);
}

void value_put_signalled(int number)
{
    stream_varint(out(), TAG_SIGNALLED);
    stream_varint(out(), (uint64_t)number);
}

/* The name of an exception's class in recordings, or NULL: any of the builtins, or a known one. */
static const char *exception_name(PyObject *type)
{
    PyObject *module = PyObject_GetAttrString(type, "__module__");
    bool is_builtin = module != NULL && PyUnicode_Check(module) &&
                      PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return is_builtin ? ((PyTypeObject *)type)->tp_name : name_of_type((PyTypeObject *)type);
}

static PyObject *attribute_or_none(PyObject *value, const char *name)
{
    PyObject *found = PyObject_GetAttrString(value, name);
    PyErr_Clear();
    return found == NULL ? Py_NewRef(Py_None) : found;
}

/* What makes an exception again: its arguments, file names, and attributes set on it. */
static PyObject *exception_parts(PyObject *value)
{
    PyObject *parts = Py_BuildValue(
        "(NNNN)", attribute_or_none(value, "args"), attribute_or_none(value, "filename"),
        attribute_or_none(value, "filename2"), attribute_or_none(value, "__dict__"));
    PyErr_Clear();
    return parts;
}

/* The exception that is set stays set. */
void value_put_exception(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *parts = value == NULL ? NULL : exception_parts(value);
    const char *name = parts == NULL ? NULL : exception_name(type);
    if (name != NULL && is_keepable(parts, DEEPEST)) {
        put_sized(TAG_EXCEPTION, name, strlen(name));
        put_value(parts);
    }
    else {
        stream_varint(out(), TAG_PERFORMED);
    }
    Py_XDECREF(parts);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

void value_put_filled(Py_ssize_t count, const void *bytes)
{
    put_sized(TAG_FILLED, bytes, (size_t)count);
}
