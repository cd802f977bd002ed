/* Containers: whose contents an object shows, and what nobody can change.
 *
 * A mutable container is a list, dict, set, bytearray or deque, or of a class derived from one.
 * Views and iterators stand for the container behind them, and super() for its object. Which names
 * of methods read and which write is known to the rewriter: instrument/containers.py. */
#include "core.h"

PyTypeObject *deque_type;
static PyTypeObject *deque_iterator, *deque_reverse_iterator, *default_dict_type;

/* Called before the first site is made. */
int containers_find_types(void)
{
    PyObject *module = deque_type != NULL ? NULL : PyImport_ImportModule("_collections");
    if (module != NULL) {
        deque_iterator = (PyTypeObject *)PyObject_GetAttrString(module, "_deque_iterator");
        deque_reverse_iterator =
            (PyTypeObject *)PyObject_GetAttrString(module, "_deque_reverse_iterator");
        default_dict_type = (PyTypeObject *)PyObject_GetAttrString(module, "defaultdict");
        deque_type = (PyTypeObject *)PyObject_GetAttrString(module, "deque");
        Py_DECREF(module);
    }
    return deque_type == NULL || PyErr_Occurred() ? -1 : 0;
}

bool is_deque(PyObject *object)
{
    return PyObject_TypeCheck(object, deque_type);
}

/* Who asks a defaultdict for an item that it has not got puts one in. */
bool fills_itself(PyObject *object)
{
    return PyDict_Check(object) && PyObject_TypeCheck(object, default_dict_type);
}

/* Classes that are derived from the others are all made by the program. */
bool is_container(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyList_Check(object) || PyDict_Check(object) || type == &PySet_Type || type == deque_type ||
        type == &PyByteArray_Type) {
        return true;
    }
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
           (PySet_Check(object) || PyByteArray_Check(object) || is_deque(object));
}

/* Is it of the built-in types themselves, so that no code of the program's is in its methods? */
bool is_plain_container(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return type == &PyList_Type || type == &PyDict_Type || type == &PySet_Type ||
           type == deque_type || type == &PyByteArray_Type;
}

/* The mutable container whose contents *object* shows, or NULL. */
PyObject *container_of(PyObject *object)
{
    if (PyDictViewSet_Check(object) || PyDictValues_Check(object)) {
        return ((DictView *)object)->dict;
    }
    return is_container(object) ? object : NULL;
}

/* Values without attributes or items that anyone could change. */
bool is_constant(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    const unsigned long OTHERS =
        Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS;
    if (type->tp_flags & OTHERS) {
        return false;
    }
    return object == Py_None || type == &PyLong_Type || type == &PyUnicode_Type ||
           type == &PyFloat_Type || type == &PyBool_Type || type == &PyBytes_Type ||
           type == &PyTuple_Type || type == &PyComplex_Type || type == &PyRange_Type ||
           type == &PyFrozenSet_Type || type == &PySlice_Type || type == &PyCFunction_Type ||
           type == &PySuper_Type;
}

/* Containers of the exact built-in types have methods, and nothing else, for attributes. */
bool has_no_attributes(PyObject *object)
{
    return is_constant(object) || is_plain_container(object);
}

bool has_no_items(PyObject *object)
{
    return is_constant(object) || PyType_Check(object) || PyTuple_Check(object) ||
           PyUnicode_Check(object);
}

/* Is *method*, found in a container's type, not one of the program's own? Those of Counter are
 * written in Python, in a module that has no points. */
bool is_of_library(PyObject *method)
{
    if (method == NULL || !PyFunction_Check(method)) {
        return method != NULL;
    }
    PyObject *module = PyFunction_GET_MODULE(method);
    return module != NULL && PyUnicode_Check(module) &&
           PyUnicode_CompareWithASCIIString(module, "collections") == 0;
}

static PyObject *method_after(PyTypeObject *type, PyTypeObject *start, PyObject *name)
{
    PyObject *order = start->tp_mro;
    bool is_passed = false;
    for (Py_ssize_t i = 0; order != NULL && i < PyTuple_GET_SIZE(order); i++) {
        PyTypeObject *each = (PyTypeObject *)PyTuple_GET_ITEM(order, i);
        PyObject *dict = is_passed ? compat_type_dict(each) : NULL;
        PyObject *found = dict == NULL ? NULL : PyDict_GetItemWithError(dict, name);
        if (found != NULL) {
            return found;
        }
        is_passed = is_passed || each == type;
    }
    return NULL;
}

/* The container whose contents the method *name* of *object* works on, or NULL. */
PyObject *container_of_method(PyObject *object, PyObject *name)
{
    if (Py_TYPE(object) == &PySuper_Type) {
        SuperObject *super = (SuperObject *)object;
        bool is_bound = super->object != NULL && super->object_type != NULL;
        return is_bound && is_container(super->object) &&
                       is_of_library(method_after(super->type, super->object_type, name))
                   ? super->object
                   : NULL;
    }
    return is_container(object) && is_of_library(_PyType_Lookup(Py_TYPE(object), name)) ? object
                                                                                        : NULL;
}

/* ---- what a loop goes over ---- */

static int keep_first(PyObject *object, void *kept)
{
    if (PyType_Check(object)) {
        return 0;
    }
    *(PyObject **)kept = object;
    return 1;
}

/* Every one of these shows its collector what it iterates over before anything else. */
static bool is_known_iterator(PyObject *object)
{
    static PyTypeObject *const KNOWN[] = {&PyListIter_Type,
                                          &PyListRevIter_Type,
                                          &PyDictIterKey_Type,
                                          &PyDictIterValue_Type,
                                          &PyDictIterItem_Type,
                                          &PyDictRevIterKey_Type,
                                          &PyDictRevIterItem_Type,
                                          &PyDictRevIterValue_Type,
                                          &PySetIter_Type,
                                          &PyByteArrayIter_Type,
                                          &PyODictIter_Type,
                                          &PyEnum_Type,
                                          &PyReversed_Type,
                                          &PyZip_Type,
                                          &PyMap_Type,
                                          &PyFilter_Type};
    PyTypeObject *type = Py_TYPE(object);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (type == KNOWN[i]) {
            return true;
        }
    }
    return type == deque_iterator || type == deque_reverse_iterator;
}

/* The container that a plain iterator goes over, if that can be told at once and is not done yet;
 * else NULL. */
PyObject *gone_over(PyObject *iterator)
{
    PyTypeObject *type = Py_TYPE(iterator);
    if (type == &PyListIter_Type) {
        return compat_iterated_list(iterator);
    }
    bool is_next = type == &PyDictIterKey_Type || type == &PyDictIterItem_Type ||
                   type == &PyDictIterValue_Type || type == &PySetIter_Type;
    return is_next ? ((DictView *)iterator)->dict : NULL; /* they all begin like that */
}

size_t iterated_by(PyObject *iterator, PyObject **found, size_t count, int depth)
{
    PyObject *first = NULL;
    if (depth > 4 || count == MOST_ITERATED || !is_known_iterator(iterator)) {
        return count;
    }
    Py_TYPE(iterator)->tp_traverse(iterator, keep_first, &first);
    if (first == NULL) {
        return count;
    }
    if (is_container(first)) {
        found[count++] = first;
    }
    else if (PyTuple_CheckExact(first)) { /* the iterators of zip and map */
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(first); i++) {
            count = iterated_by(PyTuple_GET_ITEM(first, i), found, count, depth + 1);
        }
    }
    else {
        count = iterated_by(first, found, count, depth + 1);
    }
    return count;
}
