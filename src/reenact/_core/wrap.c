/* What stands in for the calls of intercept/table.py: the type, and putting it in their place. */
#include "core.h"
#include <stddef.h>
#include <string.h>

enum { MOST_CALLS = 4096, LONGEST_NAME = 64 };

static const char *names_of_calls[MOST_CALLS];
static _Atomic bool is_defined[MOST_CALLS];
static bool is_open[MOST_CALLS];

const char *call_name(uint64_t number)
{
    return number < MOST_CALLS && names_of_calls[number] != NULL ? names_of_calls[number] : "?";
}

/* A call's name is written down once, before its first input. */
void call_define(uint32_t number)
{
    _Atomic bool *defined = &is_defined[number % MOST_CALLS];
    if (!atomic_load(defined) && !atomic_exchange(defined, true)) { /* several may come at once */
        site_define_call(number, call_name(number), is_open[number % MOST_CALLS]);
    }
}

/* In a forked child, which has definitions of its own. */
void calls_forget(void)
{
    memset((void *)is_defined, 0, sizeof is_defined);
}

static PyObject *call_get(PyObject *self, PyObject *instance, PyObject *type)
{
    (void)type;
    bool is_bound = instance != NULL && instance != Py_None;
    return is_bound ? PyMethod_New(self, instance) : Py_NewRef(self);
}

static PyObject *call_attribute(PyObject *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) {
        return Py_NewRef(((Call *)self)->native);
    }
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = PyObject_GetAttr(((Call *)self)->native, name);
    }
    return value;
}

static PyObject *call_describe(PyObject *self)
{
    return PyObject_Repr(((Call *)self)->native);
}

static int call_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Call *)self)->native);
    return 0;
}

static void call_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Call *)self)->native);
    PyObject_GC_Del(self);
}

#define CALL_TYPE(name, flags)                                                                     \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = name, .tp_basicsize = sizeof(Call),                   \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |              \
                                            Py_TPFLAGS_HAVE_VECTORCALL | (flags),                  \
                                .tp_vectorcall_offset = offsetof(Call, call),                      \
                                .tp_call = PyVectorcall_Call, .tp_getattro = call_attribute,       \
                                .tp_repr = call_describe, .tp_traverse = call_traverse,            \
                                .tp_dealloc = call_dealloc

/* A function in a class body must not turn into a method, nor a method into a function. */
PyTypeObject CallType = {CALL_TYPE("reenact._core.Call", 0)};
PyTypeObject MethodCallType = {
    CALL_TYPE("reenact._core.MethodCall", Py_TPFLAGS_METHOD_DESCRIPTOR),
    .tp_descr_get = call_get,
};

static bool is_call(PyObject *object)
{
    return Py_IS_TYPE(object, &CallType) || Py_IS_TYPE(object, &MethodCallType);
}

static const struct {
    const char *name;
    vectorcallfunc call;
} MANNERS[] = {{"outside", outside_call}, {"recorded", recorded_call}, {"makes", makes_call},
               {"sent", sent_call},       {"raised", raised_call},     {"output", output_call},
               {"opens", open_call},      {"reads", read_call},        {"closes", close_call},
               {"forks", fork_call},      {"passed", passed_call}};

static vectorcallfunc find_manner(const char *name)
{
    for (size_t i = 0; i < sizeof MANNERS / sizeof *MANNERS; i++) {
        if (strcmp(MANNERS[i].name, name) == 0) {
            return MANNERS[i].call;
        }
    }
    PyErr_Format(PyExc_ValueError, "no manner %s", name);
    return NULL;
}

/* In static memory: see files.c. */
static char *name_of_new(uint32_t number)
{
    static char texts[MOST_CALLS][LONGEST_NAME];
    names_of_calls[number % MOST_CALLS] = texts[number % MOST_CALLS];
    return texts[number % MOST_CALLS];
}

static Call *new_call(vectorcallfunc function, PyObject *native, uint32_t flags, bool is_method)
{
    static uint32_t numbers;
    Call *call = PyObject_GC_New(Call, is_method ? &MethodCallType : &CallType);
    if (call == NULL) {
        return NULL;
    }
    call->call = function;
    call->native = Py_NewRef(native);
    call->number = ++numbers;
    is_open[call->number % MOST_CALLS] = function == open_call;
    call->flags = flags;
    call->is_method = is_method;
    call->quickly = NULL;
    PyObject_GC_Track(call);
    return call;
}

/* Ours, whose `self` is the module's own function of that name, stands in its place. */
int replace_function(PyObject *module, PyMethodDef *method)
{
    PyObject *native = PyObject_GetAttrString(module, method->ml_name);
    PyObject *ours = native == NULL ? NULL : PyCFunction_New(method, native);
    int result = ours == NULL ? -1 : PyObject_SetAttrString(module, method->ml_name, ours);
    Py_XDECREF(ours);
    Py_XDECREF(native);
    return result;
}

/* wrap(owner, name, manner, flags): False if there is no such name */
static PyObject *wrap(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *owner, *native;
    const char *name, *manner;
    unsigned int flags;
    if (!PyArg_ParseTuple(args, "OssI", &owner, &name, &manner, &flags)) {
        return NULL;
    }
    bool is_method = PyType_Check(owner);
    PyObject *dict = is_method ? compat_type_dict((PyTypeObject *)owner) : PyModule_GetDict(owner);
    native = dict == NULL ? NULL : PyDict_GetItemString(dict, name);
    if (native == NULL || is_call(native)) {
        return PyBool_FromLong(native != NULL);
    }
    vectorcallfunc function = find_manner(manner);
    Call *call = function == NULL ? NULL : new_call(function, native, flags, is_method);
    if (call == NULL || PyDict_SetItemString(dict, name, (PyObject *)call) < 0) {
        return NULL;
    }
    const char *of = is_method ? ((PyTypeObject *)owner)->tp_name : PyModule_GetName(owner);
    PyOS_snprintf(name_of_new(call->number), LONGEST_NAME, "%s.%s", of, name);
    call->quickly = quick_call(call_name(call->number));
    Py_DECREF(call);
    if (is_method) {
        PyType_Modified((PyTypeObject *)owner);
    }
    Py_RETURN_TRUE;
}

/* call(name, function, manner, flags): the same for any callable, which stays where it is */
static PyObject *make_call(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *native;
    const char *name, *manner;
    unsigned int flags;
    if (!PyArg_ParseTuple(args, "sOsI", &name, &native, &manner, &flags)) {
        return NULL;
    }
    vectorcallfunc function = find_manner(manner);
    Call *call = function == NULL ? NULL : new_call(function, native, flags, false);
    if (call != NULL) {
        PyOS_snprintf(name_of_new(call->number), LONGEST_NAME, "%s", name);
    }
    return (PyObject *)call;
}

/* put(type, name, value): an attribute of a C type, which setattr refuses to set */
static PyObject *put(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *type;
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "O!UO", &PyType_Type, &type, &name, &value) ||
        PyDict_SetItem(compat_type_dict(type), name, value) < 0) {
        return NULL;
    }
    PyType_Modified(type);
    Py_RETURN_NONE;
}

PyMethodDef wrap_functions[] = {{"wrap", wrap, METH_VARARGS, NULL},
                                {"call", make_call, METH_VARARGS, NULL},
                                {"put", put, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
