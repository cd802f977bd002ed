/* write and flush of _io.TextIOWrapper and _io.BufferedWriter, patched in place where a run is in
 * lanes, or was: threads that print to one file do so in an order, and a point comes before each
 * write. (Below it, where descriptors are written to, there is none: the buffered writer holds a
 * lock of its own there.) */
#include "core.h"

typedef struct {
    PyObject *native_write, *native_flush;
    destructor native_dealloc;
} Kind;

static Kind texts, buffers;
static __thread bool is_writing; /* what the file itself runs is a part of the write */

/* By this thread, in the middle of a write. */
bool texts_are_written(void)
{
    return is_writing;
}

/* Files that die flush themselves: nobody else has them any more. */
static void die(PyObject *self, destructor native)
{
    bool was_writing = is_writing;
    object_forget(self);
    is_writing = true;
    native(self);
    is_writing = was_writing;
}

static void text_dealloc(PyObject *self)
{
    die(self, texts.native_dealloc);
}

static void buffer_dealloc(PyObject *self)
{
    die(self, buffers.native_dealloc);
}

/* What a text goes through has an order of its own, which its writer has part in. */
static Object *object_below(PyObject *self)
{
    static PyObject *name;
    if (name == NULL) {
        name = PyUnicode_InternFromString("buffer");
    }
    bool is_text = Py_TYPE(self)->tp_dealloc == text_dealloc;
    PyObject *buffer = is_text && name != NULL ? PyObject_GetAttr(self, name) : NULL;
    PyErr_Clear();
    bool is_known = buffer != NULL && Py_TYPE(buffer)->tp_dealloc == buffer_dealloc;
    Object *object = object_of(is_known ? buffer : self, OBJECT_FILE);
    Py_XDECREF(buffer);
    return object;
}

/* The text, or NULL. */
static PyObject *perform(PyObject *native, PyObject *self, PyObject *text)
{
    Thread *thread = is_writing ? NULL : gate_me();
    Object *object = thread == NULL ? NULL : object_below(self);
    if (object == NULL) {
        return PyObject_CallFunctionObjArgs(native, self, text, NULL);
    }
    if (gate_enter(thread, OP_TEXT, object) < 0) {
        return NULL;
    }
    is_writing = true;
    object_hold(object);
    PyObject *result = PyObject_CallFunctionObjArgs(native, self, text, NULL);
    if (gate.active) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        gate_done(OP_TEXT, object);
        PyErr_Restore(type, value, traceback);
    }
    object_let_go(object);
    is_writing = false;
    return result;
}

static PyObject *write_text(PyObject *self, PyObject *text)
{
    return perform(texts.native_write, self, text);
}

static PyObject *flush_text(PyObject *self, PyObject *unused)
{
    (void)unused;
    return perform(texts.native_flush, self, NULL);
}

static PyObject *write_bytes(PyObject *self, PyObject *bytes)
{
    return perform(buffers.native_write, self, bytes);
}

static PyObject *flush_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return perform(buffers.native_flush, self, NULL);
}

static PyMethodDef text_methods[] = {{"write", write_text, METH_O, NULL},
                                     {"flush", flush_text, METH_NOARGS, NULL}};
static PyMethodDef buffer_methods[] = {{"write", write_bytes, METH_O, NULL},
                                       {"flush", flush_bytes, METH_NOARGS, NULL}};

static int install(const char *name, Kind *kind, PyMethodDef *methods, destructor dealloc)
{
    PyObject *module = PyImport_ImportModule("_io");
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    if (found == NULL) {
        return -1;
    }
    PyTypeObject *type = (PyTypeObject *)found;
    kind->native_write = patch_method(type, &methods[0]);
    kind->native_flush = patch_method(type, &methods[1]);
    kind->native_dealloc = type->tp_dealloc;
    type->tp_dealloc = dealloc;
    return kind->native_write == NULL || kind->native_flush == NULL ? -1 : 0;
}

int texts_install(void)
{
    int failed = install("TextIOWrapper", &texts, text_methods, text_dealloc);
    return failed < 0 ? -1 : install("BufferedWriter", &buffers, buffer_methods, buffer_dealloc);
}
