/* An extension that writes where it must not, in every way that the tests look for. Each function
 * does one wrong thing, and nothing else wrong. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

static char *held; /* a block between two calls */

/* hold(size): a block of PyMem_Malloc, as it should be */
static PyObject *hold(PyObject *module, PyObject *size)
{
    (void)module;
    held = PyMem_Malloc(PyLong_AsSize_t(size));
    memset(held, 'a', PyLong_AsSize_t(size));
    Py_RETURN_NONE;
}

static PyObject *hold_object_memory(PyObject *module, PyObject *size)
{
    (void)module;
    held = PyObject_Malloc(PyLong_AsSize_t(size));
    Py_RETURN_NONE;
}

static PyObject *hold_raw(PyObject *module, PyObject *size)
{
    (void)module;
    held = PyMem_RawCalloc(1, PyLong_AsSize_t(size));
    Py_RETURN_NONE;
}

/* grow_and_forget(size): the block may have moved, which is not noticed */
static PyObject *grow_and_forget(PyObject *module, PyObject *size)
{
    (void)module;
    void *volatile grown = PyMem_Realloc(held, PyLong_AsSize_t(size));
    (void)grown;
    Py_RETURN_NONE;
}

static PyObject *let_go(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyMem_Free(held);
    Py_RETURN_NONE;
}

static PyObject *let_go_object_memory(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject_Free(held);
    Py_RETURN_NONE;
}

static PyObject *let_go_raw(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyMem_RawFree(held);
    Py_RETURN_NONE;
}

/* write(offset, count, byte): into the block, or next to it */
static PyObject *write_held(PyObject *module, PyObject *args)
{
    (void)module;
    Py_ssize_t offset, count;
    int byte;
    if (!PyArg_ParseTuple(args, "nni", &offset, &count, &byte)) {
        return NULL;
    }
    memset(held + offset, byte, (size_t)count);
    Py_RETURN_NONE;
}

/* write_and_free(offset): both in one call */
static PyObject *write_and_free(PyObject *module, PyObject *offset)
{
    (void)module;
    held[PyLong_AsSsize_t(offset)] = 0;
    PyMem_Free(held);
    Py_RETURN_NONE;
}

/* copy(count): to a block of as many bytes, with eight more; they are canaries of the first */
static PyObject *copy(PyObject *module, PyObject *count)
{
    (void)module;
    size_t size = PyLong_AsSize_t(count);
    char *other = PyMem_Malloc(size);
    memcpy(other, held, size + 8);
    held = other;
    Py_RETURN_NONE;
}

/* spoil_bytes(object, offset): in the buffer of bytes or of a bytearray */
static PyObject *spoil_bytes(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object;
    Py_ssize_t offset;
    if (!PyArg_ParseTuple(args, "On", &object, &offset)) {
        return NULL;
    }
    char *bytes = PyBytes_Check(object) ? PyBytes_AS_STRING(object) : PyByteArray_AS_STRING(object);
    bytes[offset] = 'x';
    Py_RETURN_NONE;
}

/* spoil_buffer(object, offset): of whatever has a buffer */
static PyObject *spoil_buffer(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer buffer;
    Py_ssize_t offset;
    if (!PyArg_ParseTuple(args, "y*n", &buffer, &offset)) {
        return NULL;
    }
    ((char *)buffer.buf)[offset] = 'x';
    PyBuffer_Release(&buffer);
    Py_RETURN_NONE;
}

/* spoil_list(list, index): one item too many */
static PyObject *spoil_list(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *list;
    Py_ssize_t index;
    if (!PyArg_ParseTuple(args, "On", &list, &index)) {
        return NULL;
    }
    ((PyListObject *)list)->ob_item[index] = Py_None;
    Py_RETURN_NONE;
}

/* call_and_write(function, offset): into the held block, after a call of Python code */
static PyObject *call_and_write(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function;
    Py_ssize_t offset;
    if (!PyArg_ParseTuple(args, "On", &function, &offset)) {
        return NULL;
    }
    PyObject *result = PyObject_CallNoArgs(function);
    held[offset] = 0;
    return result;
}

/* churn_raw(count): blocks of the raw domain without the GIL, as it should be */
static PyObject *churn_raw(PyObject *module, PyObject *count)
{
    (void)module;
    long rounds = PyLong_AsLong(count);
    Py_BEGIN_ALLOW_THREADS;
    for (long i = 0; i < rounds; i++) {
        size_t size = 1 + (size_t)i * 37 % 900;
        char *block = PyMem_RawMalloc(size);
        memset(block, 'r', size);
        block = PyMem_RawRealloc(block, size * 2);
        memset(block, 's', size * 2);
        PyMem_RawFree(block);
    }
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

/* An object with a small buffer of its own at its end. */
typedef struct {
    PyObject_HEAD char text[8];
} Small;

static PyObject *held_object; /* without a reference */

/* small[i] = n writes a byte, wherever that is. */
static int small_set(PyObject *self, Py_ssize_t index, PyObject *value)
{
    ((Small *)self)->text[index] = (char)PyLong_AsLong(value);
    return PyErr_Occurred() ? -1 : 0;
}

static Py_ssize_t small_length(PyObject *self)
{
    (void)self;
    return 8;
}

static PySequenceMethods small_sequence = {.sq_length = small_length, .sq_ass_item = small_set};
static PyTypeObject SmallType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "misbehaving.Small",
                                 .tp_basicsize = sizeof(Small),
                                 .tp_flags = Py_TPFLAGS_DEFAULT,
                                 .tp_new = PyType_GenericNew,
                                 .tp_as_sequence = &small_sequence};

static PyObject *new_small(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return (PyObject *)PyObject_New(Small, &SmallType);
}

/* remember(object): and do not count it */
static PyObject *remember(PyObject *module, PyObject *object)
{
    (void)module;
    held_object = object;
    Py_RETURN_NONE;
}

static PyObject *use_remembered(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    ((Small *)held_object)->text[3] = 'x';
    Py_RETURN_NONE;
}

static PyObject *count_remembered(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Py_INCREF(held_object);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"hold", hold, METH_O, NULL},
    {"hold_object_memory", hold_object_memory, METH_O, NULL},
    {"hold_raw", hold_raw, METH_O, NULL},
    {"grow_and_forget", grow_and_forget, METH_O, NULL},
    {"let_go", let_go, METH_NOARGS, NULL},
    {"let_go_object_memory", let_go_object_memory, METH_NOARGS, NULL},
    {"let_go_raw", let_go_raw, METH_NOARGS, NULL},
    {"write", write_held, METH_VARARGS, NULL},
    {"write_and_free", write_and_free, METH_O, NULL},
    {"copy", copy, METH_O, NULL},
    {"spoil_bytes", spoil_bytes, METH_VARARGS, NULL},
    {"spoil_buffer", spoil_buffer, METH_VARARGS, NULL},
    {"spoil_list", spoil_list, METH_VARARGS, NULL},
    {"call_and_write", call_and_write, METH_VARARGS, NULL},
    {"churn_raw", churn_raw, METH_O, NULL},
    {"new_small", new_small, METH_NOARGS, NULL},
    {"remember", remember, METH_O, NULL},
    {"use_remembered", use_remembered, METH_NOARGS, NULL},
    {"count_remembered", count_remembered, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "misbehaving",
                                        .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit_misbehaving(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyType_Ready(&SmallType) < 0 ||
        PyModule_AddObjectRef(module, "Small", (PyObject *)&SmallType) < 0) {
        return NULL;
    }
    return module;
}
