/* _io.TextIOWrapper.write, patched in place where a run is in lanes, or was: threads that print to
 * one file do so in an order, and a point comes before each write. (Below it, where descriptors are
 * written to, there is none: the buffered writer holds a lock of its own there.) */
#include "core.h"

static PyObject *native_write;
static destructor native_dealloc;
static __thread bool is_writing; /* what the file itself runs is a part of the write */

static PyObject *write_text(PyObject *self, PyObject *text)
{
    Thread *thread = is_writing ? NULL : gate_me();
    Object *object = thread == NULL ? NULL : object_of(self, OBJECT_FILE);
    if (object == NULL) {
        return PyObject_CallFunctionObjArgs(native_write, self, text, NULL);
    }
    if (gate_enter(thread, OP_TEXT, object) < 0) {
        return NULL;
    }
    is_writing = true;
    object_hold(object);
    PyObject *result = PyObject_CallFunctionObjArgs(native_write, self, text, NULL);
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

static void text_dealloc(PyObject *self)
{
    object_forget(self);
    native_dealloc(self);
}

static PyMethodDef write_method = {"write", write_text, METH_O, NULL};

int texts_install(void)
{
    PyObject *module = PyImport_ImportModule("_io");
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, "TextIOWrapper");
    Py_XDECREF(module);
    if (found == NULL) {
        return -1;
    }
    PyTypeObject *type = (PyTypeObject *)found;
    native_write = patch_method(type, &write_method);
    native_dealloc = type->tp_dealloc;
    type->tp_dealloc = text_dealloc;
    return native_write == NULL ? -1 : 0;
}
