/* What a program is told of addresses, in runs whose objects lie elsewhere in a replay: by `id`, by
 * the hash and by the representation that objects have if their class has none of its own.
 *
 * Without a GIL each thread has memory of its own, and what is freed by another comes back to it
 * when it does. So the order of a set, or what is found by an `id`, would differ. A recording in
 * parallel keeps each address that is told, among the readings of clocks, and a replay tells it
 * again. It remembers by the real one what it has told last, for whoever asks while nothing is
 * recorded: an object must have one hash.
 *
 * Classes that were there before `tell_addresses` is called hash as they did. */
#include "core.h"
#include <string.h>

enum { TABLE = 1 << 16 };

static struct {
    uintptr_t address;
    int64_t told;
} remembered[TABLE];
static Guard guard;
static hashfunc native_hash;
static reprfunc native_repr;
static char *own_code; /* how the paths of our own modules begin */

static inline size_t place_of(uintptr_t address)
{
    return (size_t)((address >> 4) * 0x9E3779B97F4A7C15ULL >> 48) % TABLE;
}

static void remember(uintptr_t address, int64_t told)
{
    size_t place = place_of(address);
    compat_guard(&guard);
    remembered[place].address = address;
    remembered[place].told = told;
    compat_unguard(&guard);
}

static int64_t recalled(uintptr_t address)
{
    size_t place = place_of(address);
    compat_guard(&guard);
    int64_t told = remembered[place].address == address ? remembered[place].told : (int64_t)address;
    compat_unguard(&guard);
    return told;
}

/* Code of ours does not always run both in a recording and in its replay. */
bool is_asked_by_us(const Thread *thread)
{
    static __thread struct {
        const PyObject *path;
        bool is_ours;
    } latest;
    Frame *frame = thread->tstate == NULL ? NULL : compat_top_frame(thread->tstate);
    PyCodeObject *code = frame == NULL ? NULL : compat_frame_code(frame);
    if (code == NULL || own_code == NULL) {
        return false;
    }
    if (code->co_filename != latest.path) {
        const char *path = PyUnicode_AsUTF8(code->co_filename);
        latest.path = code->co_filename;
        latest.is_ours = path != NULL && strncmp(path, own_code, strlen(own_code)) == 0;
    }
    return latest.is_ours;
}

static int64_t address_of(const PyObject *object)
{
    uintptr_t address = (uintptr_t)object;
    Thread *thread = gate.active && gate.has_lanes ? me : NULL;
    if (thread == NULL || thread->inside > 0 || is_asked_by_us(thread)) {
        return recalled(address);
    }
    if (gate.settings.mode == MODE_REPLAY) {
        int64_t told = replay_clock(ADDRESSES);
        remember(address, told);
        return told;
    }
    if (gate.is_parallel) {
        lane_clock(thread, ADDRESSES, (int64_t)address);
    }
    return (int64_t)address;
}

static PyObject *tell_id(PyObject *module, PyObject *object)
{
    (void)module;
    return PyLong_FromVoidPtr((void *)(intptr_t)address_of(object));
}

/* As CPython makes a hash of a pointer. */
static Py_hash_t tell_hash(PyObject *self)
{
    uint64_t address = (uint64_t)address_of(self);
    Py_hash_t hash = (Py_hash_t)(address >> 4 | address << 60);
    return hash == -1 ? -2 : hash;
}

/* `<module.Class object at 0x7f...>`; of classes that were given a __repr__ this is not asked. */
static PyObject *tell_repr(PyObject *self)
{
    PyObject *native = native_repr(self), *told = NULL;
    Py_ssize_t size = native == NULL ? 0 : PyUnicode_GET_LENGTH(native);
    Py_ssize_t at = native == NULL ? -1 : PyUnicode_FindChar(native, 'x', 0, size, -1);
    if (at < 0) {
        return native;
    }
    PyObject *before = PyUnicode_Substring(native, 0, at - 1);
    if (before != NULL) {
        told = PyUnicode_FromFormat("%U%p>", before, (void *)(intptr_t)address_of(self));
    }
    Py_XDECREF(before);
    Py_DECREF(native);
    return told;
}

/* Classes take what their base has from the descriptor in its dictionary. */
static int replace(const char *name, void *ours)
{
    PyObject *descriptor = PyDict_GetItemString(compat_type_dict(&PyBaseObject_Type), name);
    if (descriptor == NULL || !Py_IS_TYPE(descriptor, &PyWrapperDescr_Type)) {
        PyErr_Format(PyExc_RuntimeError, "object.%s is not what it was", name);
        return -1;
    }
    ((PyWrapperDescrObject *)descriptor)->d_wrapped = ours;
    return 0;
}

static PyMethodDef id_method = {"id", tell_id, METH_O, NULL};

/* tell_addresses(path of our own modules): from here on; the function that stands in place of id */
static PyObject *tell_addresses(PyObject *module, PyObject *path)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8(path);
    if (text == NULL) {
        return NULL;
    }
    if (native_hash == NULL) {
        own_code = strdup(text);
        native_hash = PyBaseObject_Type.tp_hash;
        native_repr = PyBaseObject_Type.tp_repr;
        if (replace("__hash__", *(void **)&(hashfunc){tell_hash}) < 0 ||
            replace("__repr__", *(void **)&(reprfunc){tell_repr}) < 0) {
            return NULL;
        }
        PyBaseObject_Type.tp_hash = tell_hash;
        PyBaseObject_Type.tp_repr = tell_repr;
        PyType_Modified(&PyBaseObject_Type);
    }
    return PyCFunction_New(&id_method, NULL);
}

PyMethodDef address_functions[] = {{"tell_addresses", tell_addresses, METH_O, NULL},
                                   {NULL, NULL, 0, NULL}};
