/* Keys of dictionaries, where no GIL keeps others from looking them up.
 *
 * Who looks up a key that another thread has made first tries without the dictionary's lock, and
 * that fails, unless somebody else happens to count the key just then: so it asks `__eq__` again
 * with the lock. Whoever wrote an `__eq__` in Python sees that. A key that is marked as one that
 * others may count does not let the first try fail: here all are marked before one is looked up.
 * New keys come behind all others, so that the last ones are all there is to do. Who looks for a
 * text or a number asks no `__eq__`, but of keys of other kinds with the same hash. */
#include "core.h"

#ifdef Py_GIL_DISABLED
#define Py_BUILD_CORE 1
#include <internal/pycore_dict.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE

enum { MOST_UNMARKED = 8 }; /* in a row, of keys that nobody counts, such as small numbers */

static binaryfunc native_item;
static objobjproc native_contains;
static PyCFunction native_get;

/* Has it been marked before, so that all before it are? */
static bool is_marked(PyObject *key)
{
    return key != NULL && !_Py_IsImmortal(key) &&
           (atomic_load_explicit((_Atomic Py_ssize_t *)&key->ob_ref_shared, memory_order_relaxed) &
            _Py_REF_SHARED_FLAG_MASK) != 0;
}

static void mark_last(const PyDictKeysObject *keys)
{
    PyDictKeyEntry *entries = DK_ENTRIES((PyDictKeysObject *)keys);
    Py_ssize_t count = keys->dk_nentries;
    for (Py_ssize_t i = count - 1; i >= 0 && i >= count - MOST_UNMARKED; i--) {
        PyObject *key = entries[i].me_key;
        if (is_marked(key)) {
            return;
        }
        if (key != NULL) {
            _PyObject_SetMaybeWeakref(key);
        }
    }
}

/* Asked without a lock, as the lookup will; who finds that there is something to do looks again. */
static inline bool needs_marks(const PyDictKeysObject *keys)
{
    Py_ssize_t count = keys->dk_nentries;
    return keys->dk_kind == DICT_KEYS_GENERAL && count > 0 &&
           !is_marked(DK_ENTRIES((PyDictKeysObject *)keys)[count - 1].me_key);
}

static inline void mark(PyObject *dict, PyObject *key)
{
    if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || !gate.active ||
        !needs_marks(((PyDictObject *)dict)->ma_keys)) {
        return;
    }
    Py_BEGIN_CRITICAL_SECTION(dict);
    const PyDictKeysObject *keys = ((PyDictObject *)dict)->ma_keys;
    if (needs_marks(keys)) {
        mark_last(keys);
    }
    Py_END_CRITICAL_SECTION();
}

static PyObject *item(PyObject *dict, PyObject *key)
{
    mark(dict, key);
    return native_item(dict, key);
}

static int contains(PyObject *dict, PyObject *key)
{
    mark(dict, key);
    return native_contains(dict, key);
}

static PyObject *get(PyObject *dict, PyObject *const *args, Py_ssize_t count)
{
    if (count > 0) {
        mark(dict, args[0]);
    }
    return ((PyCFunctionFast)(void (*)(void))native_get)(dict, args, count);
}

/* mark_keys(): what looks keys up without a lock marks them first, from here on */
static PyObject *mark_keys(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *method = PyDict_GetItemString(compat_type_dict(&PyDict_Type), "get");
    if (native_item == NULL && method != NULL && Py_IS_TYPE(method, &PyMethodDescr_Type)) {
        PyMethodDef *definition = ((PyMethodDescrObject *)method)->d_method;
        native_item = PyDict_Type.tp_as_mapping->mp_subscript;
        native_contains = PyDict_Type.tp_as_sequence->sq_contains;
        native_get = definition->ml_meth;
        PyDict_Type.tp_as_mapping->mp_subscript = item;
        PyDict_Type.tp_as_sequence->sq_contains = contains;
        definition->ml_meth = (PyCFunction)(void (*)(void))get;
    }
    Py_RETURN_NONE;
}

PyMethodDef key_functions[] = {{"mark_keys", mark_keys, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

#else

PyMethodDef key_functions[] = {{NULL, NULL, 0, NULL}};

#endif
