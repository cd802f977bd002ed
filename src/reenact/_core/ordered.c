/* Functions of C code that share something without a lock, in runs that keep the order of accesses.
 *
 * Such code has no sites. An *ordered* function stands in its place, comes to a point, takes note
 * of an access to what it shares, and calls it: to its first argument, which of a method is its
 * self, or to a key that it was given. Methods of containers, which have sites where they are
 * called by their name, are such functions once they are bound. One that comes after its call is
 * for callbacks: what C code does next, it does to the key. intercept/unlocked.py says which
 * functions these are. */
#include "core.h"
#include <opcode.h>

typedef struct {
    PyObject_HEAD vectorcallfunc call;
    PyObject *native;
    const PyObject *key; /* borrowed; NULL: the first argument */
    bool comes_after, reads;
    uint32_t number; /* to know it by: cold.c */
} Ordered;

/* A point before something that is done again and again; but not for ever, if the order of
 * accesses is kept where it costs little. */
static Thread *come_to_point(int *result, uint32_t number)
{
    Thread *thread = gate.active && gate.has_lanes && gate.settings.order != ORDER_SYNC ? me : NULL;
    if (thread != NULL && gate.settings.order == ORDER_COLD && cold_is_known(thread, number)) {
        thread = NULL;
    }
    *result = thread == NULL || tick(thread) >= 0 ? 0 : -1;
    bool is_noted = *result == 0 && gate.is_parallel && gate.settings.mode == MODE_RECORD;
    return is_noted ? thread : NULL;
}

static void settle(Thread *thread)
{
    if (!HAS_GIL) {
        turns_settle(thread);
    }
}

/* An access that the thread is about to make to all that the object holds. */
static int access_all(const PyObject *object, bool writes, uint32_t number)
{
    int result;
    Thread *thread = come_to_point(&result, number);
    if (thread != NULL) {
        access_in_order(thread, object, NULL, writes, writes);
        settle(thread);
    }
    return result;
}

/* It is done without an order from now on, as far as this thread goes. */
static inline bool is_known(uint32_t number)
{
    return gate.settings.order == ORDER_COLD && me != NULL && cold_knows(me, number);
}

static PyObject *call_in_order(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Ordered *ordered = (Ordered *)self;
    if (is_known(ordered->number)) {
        return PyObject_Vectorcall(ordered->native, args, count, names);
    }
    const PyObject *key = ordered->key != NULL            ? ordered->key
                          : PyVectorcall_NARGS(count) > 0 ? args[0]
                                                          : ordered->native;
    if (!ordered->comes_after && access_all(key, !ordered->reads, ordered->number) < 0) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(ordered->native, args, count, names);
    if (ordered->comes_after) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        if (access_all(key, !ordered->reads, ordered->number) < 0) {
            Py_CLEAR(result);
            Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
        }
        else {
            PyErr_Restore(type, value, traceback);
        }
    }
    return result;
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    Ordered *ordered = (Ordered *)self;
    if (object == NULL || PyCFunction_Check(ordered->native)) {
        return Py_NewRef(self);
    }
    return is_known(ordered->number)
               ? Py_TYPE(ordered->native)->tp_descr_get(ordered->native, object, type)
               : PyMethod_New(self, object);
}

/* What it does not have itself, such as a name, is the native one's. */
static PyObject *attribute(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        found = PyObject_GetAttr(((Ordered *)self)->native, name);
    }
    return found;
}

static PyObject *describe(PyObject *self)
{
    return PyObject_Repr(((Ordered *)self)->native);
}

static void ordered_dealloc(PyObject *self)
{
    Py_XDECREF(((Ordered *)self)->native);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject OrderedType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Ordered",
    .tp_basicsize = sizeof(Ordered),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Ordered, call),
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = bind,
    .tp_getattro = attribute,
    .tp_repr = describe,
    .tp_dealloc = ordered_dealloc,
};

static PyObject *new_ordered(PyObject *native, const PyObject *key, bool comes_after)
{
    Ordered *made = PyObject_New(Ordered, &OrderedType);
    if (made != NULL) {
        made->call = call_in_order;
        made->native = Py_NewRef(native);
        made->key = key;
        made->comes_after = comes_after;
        made->reads = false;
        made->number = cold_number();
    }
    return (PyObject *)made;
}

/* In place of a method of a type, for all threads: whose references are not counted. */
static PyObject *new_for_good(PyObject *native)
{
    PyObject *made = new_ordered(native, NULL, false);
    if (made != NULL) {
        compat_make_immortal(made);
    }
    return made;
}

/* order_methods(type, names): those of them that the type has */
static PyObject *order_methods(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *type;
    PyObject *names;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &type, &PyTuple_Type, &names)) {
        return NULL;
    }
    PyObject *methods = compat_type_dict(type);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *native = PyDict_GetItem(methods, name);
        PyObject *ours = native == NULL ? NULL : new_for_good(native);
        if (ours != NULL && PyDict_SetItem(methods, name, ours) < 0) {
            return NULL;
        }
    }
    PyType_Modified(type);
    Py_RETURN_NONE;
}

/* ---- methods of containers that are called by another name ---- */

/* `log.append(x)` has a site where it stands. A bound method that is kept, or given to C code, has
 * none where it is called: so it is bound to an ordered function. */
static PyObject *bound_ones; /* by method of a type: what it is bound as */
static descrgetfunc native_bind;

enum { MOST_BOUND = 8 };
static const PyTypeObject *bound_types[MOST_BOUND];

/* Every `with` binds two methods, of a lock mostly. */
static inline bool may_be_ours(PyObject *method)
{
    const PyTypeObject *type = ((PyDescrObject *)method)->d_type;
    for (int i = 0; i < MOST_BOUND && bound_types[i] != NULL; i++) {
        if (bound_types[i] == type) {
            return true;
        }
    }
    return false;
}

static PyObject *bind_in_order(PyObject *method, PyObject *object, PyObject *type)
{
    if (object == NULL || !may_be_ours(method)) {
        return native_bind(method, object, type);
    }
    PyObject *ours = PyDict_GetItemWithError(bound_ones, method);
    if (ours == NULL && PyErr_Occurred()) {
        return NULL;
    }
    bool is_native = ours == NULL || is_known(((Ordered *)ours)->number);
    return is_native ? native_bind(method, object, type) : PyMethod_New(ours, object);
}

/* order_bound(type, {name: does it write?}): its own methods of these names, once bound */
static PyObject *order_bound(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *type;
    PyObject *names, *name, *writes;
    if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &type, &PyDict_Type, &names) ||
        (bound_ones == NULL && (bound_ones = PyDict_New()) == NULL)) {
        return NULL;
    }
    int count = 0;
    while (count < MOST_BOUND && bound_types[count] != NULL) {
        count++;
    }
    if (count == MOST_BOUND) {
        PyErr_SetString(PyExc_TypeError, "order_bound(type, names), of a few types");
        return NULL;
    }
    bound_types[count] = type;
    PyObject *methods = compat_type_dict(type);
    for (Py_ssize_t at = 0; PyDict_Next(names, &at, &name, &writes);) {
        PyObject *native = PyDict_GetItem(methods, name);
        if (native == NULL || !Py_IS_TYPE(native, &PyMethodDescr_Type)) {
            continue;
        }
        PyObject *ours = new_for_good(native);
        if (ours == NULL || PyDict_SetItem(bound_ones, native, ours) < 0) {
            return NULL;
        }
        ((Ordered *)ours)->reads = writes == Py_False;
    }
    if (native_bind == NULL) {
        native_bind = PyMethodDescr_Type.tp_descr_get;
        PyMethodDescr_Type.tp_descr_get = bind_in_order;
    }
    Py_RETURN_NONE;
}

/* ---- iterators ---- */

/* `next(count)` and loops ask the type, and not a method of its own. A loop has a site behind each
 * item that it was given, but what it goes over may have changed since the site before. */
enum { MOST_ITERATORS = 16 };
static struct {
    PyTypeObject *type;
    iternextfunc native;
    uint32_t number;
} iterators[MOST_ITERATORS];

/* A generator's code may come to no points but ticks, which are in the middle of the access. */
static int access_iterator(PyObject *self, uint32_t number)
{
    PyObject *container = gone_over(self);
    if (container != NULL) {
        return access_all(container, false, number);
    }
    int result = access_all(self, true, number);
    if (result == 0 && PyGen_CheckExact(self) && me != NULL) {
        me->lane.is_called_back = turns_are_used();
    }
    return result;
}

static PyObject *next_in_order(PyObject *self)
{
    int i = 0;
    while (!PyObject_TypeCheck(self, iterators[i].type)) { /* it is one of these */
        i++;
    }
    if (is_known(iterators[i].number)) {
        return iterators[i].native(self);
    }
    bool is_counted = me != NULL && me->inside == 0 && !is_asked_by_us(me);
    return is_counted && access_iterator(self, iterators[i].number) < 0 ? NULL
                                                                        : iterators[i].native(self);
}

/* order_iterators(type): the next item of its instances */
static PyObject *order_iterators(PyObject *module, PyObject *type)
{
    (void)module;
    int i = 0;
    while (i < MOST_ITERATORS && iterators[i].type != NULL) {
        i++;
    }
    if (!PyType_Check(type) || i == MOST_ITERATORS || ((PyTypeObject *)type)->tp_iternext == NULL) {
        PyErr_SetString(PyExc_TypeError, "order_iterators(type), of a few types");
        return NULL;
    }
    iterators[i].type = (PyTypeObject *)type;
    iterators[i].native = iterators[i].type->tp_iternext;
    iterators[i].number = cold_number();
    iterators[i].type->tp_iternext = next_in_order;
    Py_RETURN_NONE;
}

/* ---- caches ---- */

static ternaryfunc native_cache_call;
static uint32_t number_of_caches;

static PyObject *call_cache(PyObject *self, PyObject *args, PyObject *names)
{
    return access_all(self, true, number_of_caches) < 0 ? NULL
                                                        : native_cache_call(self, args, names);
}

/* order_caches(type): calls of its instances, by themselves or through a function made next */
static PyObject *order_caches(PyObject *module, PyObject *type)
{
    (void)module;
    if (PyType_Check(type) && ((PyTypeObject *)type)->tp_call != call_cache) {
        native_cache_call = ((PyTypeObject *)type)->tp_call;
        ((PyTypeObject *)type)->tp_call = call_cache;
        number_of_caches = cold_number();
    }
    Py_RETURN_NONE;
}

/* make_cache(type, function, ...): the type's instance, which goes on after each call of the
 * function at a point; nobody but the instance has what it calls. */
static PyObject *make_cache(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 2 || count > 6) {
        PyErr_SetString(PyExc_TypeError, "make_cache(type, function, ...)");
        return NULL;
    }
    PyObject *all[6] = {new_ordered(args[1], args[1], true)};
    if (all[0] == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 2; i < count; i++) {
        all[i - 1] = args[i];
    }
    PyObject *cache = PyObject_Vectorcall(args[0], all, (size_t)(count - 1), NULL);
    ((Ordered *)all[0])->key = cache;
    Py_DECREF(all[0]);
    return cache;
}

/* ---- imports ---- */

enum { FULL_COUNT = 5 }; /* arguments, as statements and C code give them */

static PyObject *modules, *native_import, *initializing, *submodules;
static uint32_t number_of_imports;

/* What says whether a module is there, and whether it is whole: borrowed, NULL if it is not. */
static PyObject *spec_of(PyObject *name)
{
    PyObject *module = PyUnicode_CheckExact(name) ? PyDict_GetItem(modules, name) : NULL;
    PyObject *dict = module != NULL && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
    return dict == NULL ? NULL : PyDict_GetItemString(dict, "__spec__");
}

/* Is it made in the replay as well? C code imports, too, but a call to the outside is not made
 * again; where there is a GIL, hints say what such imports found. What calls __import__ by its name
 * is mostly the search for a codec, which is made once, be it by a call to the outside. */
static bool is_made_again(bool is_by_name)
{
    Frame *frame = me == NULL || me->tstate == NULL ? NULL : compat_top_frame(me->tstate);
    if (frame == NULL || compat_frame_code(frame) == NULL || is_by_name) {
        return false;
    }
    if (!HAS_GIL && me->inside == 0) {
        return true;
    }
    const _Py_CODEUNIT *at = compat_frame_instruction(frame);
    while (compat_opcode(*at) == EXTENDED_ARG) {
        at++;
    }
    return compat_opcode(*at) == IMPORT_NAME;
}

static PyObject *import_in_order(PyObject *module, PyObject *const *args, Py_ssize_t count,
                                 PyObject *names)
{
    (void)module;
    int result = 0;
    Thread *thread = is_made_again(count != FULL_COUNT || names != NULL)
                         ? come_to_point(&result, number_of_imports)
                         : NULL;
    if (result < 0) {
        return NULL;
    }
    if (thread != NULL) {
        PyObject *spec = count > 0 ? spec_of(args[0]) : NULL;
        access_in_order(thread, modules, NULL, false, false);
        if (spec != NULL) {
            access_in_order(thread, spec, initializing, false, false);
        }
        settle(thread);
    }
    return PyObject_Vectorcall(native_import, args, (size_t)count, names);
}

/* Whoever does not find an attribute of a module is told why: it may still be on its way. */
void imports_tell_missing(Thread *thread, PyObject *dict, PyObject *name)
{
    PyObject *spec = submodules == NULL || PyDict_GetItemWithError(dict, name) != NULL
                         ? NULL
                         : PyDict_GetItemString(dict, "__spec__");
    PyObject *coming = spec == NULL ? NULL : PyObject_GetAttr(spec, submodules);
    PyErr_Clear();
    if (coming != NULL) {
        access_in_order(thread, spec, initializing, false, false);
        access_in_order(thread, coming, NULL, false, false);
        Py_DECREF(coming); /* which the spec has */
    }
}

static PyMethodDef import_method = {"__import__", (PyCFunction)(void (*)(void))import_in_order,
                                    METH_FASTCALL | METH_KEYWORDS, NULL};

/* order_imports(__import__): a function in its place */
static PyObject *order_imports(PyObject *module, PyObject *native)
{
    (void)module;
    modules = PyImport_GetModuleDict();
    number_of_imports = cold_number();
    native_import = Py_NewRef(native);
    initializing = PyUnicode_InternFromString("_initializing");
    submodules = PyUnicode_InternFromString("_uninitialized_submodules");
    bool is_made = initializing != NULL && submodules != NULL;
    return is_made ? PyCFunction_New(&import_method, NULL) : NULL;
}

/* ---- printing ---- */

static PyObject *native_print, *of_sys, *stdout_name;
static uint32_t number_of_prints;

/* Where it prints to, if that is not said, C code looks up. */
static PyObject *print_in_order(PyObject *module, PyObject *const *args, Py_ssize_t count,
                                PyObject *names)
{
    (void)module;
    int result = 0;
    Thread *thread = come_to_point(&result, number_of_prints);
    if (result < 0) {
        return NULL;
    }
    if (thread != NULL) {
        access_in_order(thread, of_sys, stdout_name, false, false);
        settle(thread);
    }
    return PyObject_Vectorcall(native_print, args, (size_t)count, names);
}

static PyMethodDef print_method = {"print", (PyCFunction)(void (*)(void))print_in_order,
                                   METH_FASTCALL | METH_KEYWORDS, NULL};

/* order_prints(print): a function in its place */
static PyObject *order_prints(PyObject *module, PyObject *native)
{
    (void)module;
    PyObject *sys = PyImport_AddModule("sys"),
             *builtins = PyImport_AddModule("builtins"); /* borrowed */
    PyObject *name = PyUnicode_InternFromString("builtins");
    of_sys = sys == NULL ? NULL : PyModule_GetDict(sys);
    stdout_name = PyUnicode_InternFromString("stdout");
    native_print = Py_NewRef(native);
    if (PyCFunction_Check(native)) {
        print_method.ml_doc = ((PyCFunctionObject *)native)->m_ml->ml_doc;
    }
    number_of_prints = cold_number();
    bool is_made = of_sys != NULL && builtins != NULL && name != NULL && stdout_name != NULL;
    PyObject *made = is_made ? PyCFunction_NewEx(&print_method, builtins, name) : NULL;
    Py_XDECREF(name);
    return made;
}

/* ---- what reenact itself counts ---- */

static Object counted = {.latest = {.thread = -1}};

/* in_turn(function, ...): what comes to no point, by one thread after the other, in the same order
 * in a replay */
static PyObject *in_turn(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "in_turn(function, ...)");
        return NULL;
    }
    Thread *thread = gate.active && me != NULL && me->inside == 0 ? me : NULL;
    bool is_noted = thread != NULL && gate.is_parallel && gate.settings.mode == MODE_RECORD;
    if (thread != NULL) {
        parallel_extra_point(thread);
    }
    if (is_noted) {
        object_hold(&counted);
        lane_after(thread, counted.latest);
        counted.latest = (Deed){thread->index, thread_position(thread)};
    }
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), NULL);
    if (is_noted) {
        object_let_go(&counted);
    }
    if (thread != NULL && result != NULL) { /* what comes next may have an order of its own */
        parallel_extra_point(thread);
    }
    return result;
}

void ordered_forget(void)
{
    counted = (Object){.latest = {.thread = -1}};
}

PyMethodDef ordered_functions[] = {
    {"in_turn", (PyCFunction)(void (*)(void))in_turn, METH_FASTCALL, NULL},
    {"order_methods", order_methods, METH_VARARGS, NULL},
    {"order_bound", order_bound, METH_VARARGS, NULL},
    {"order_iterators", order_iterators, METH_O, NULL},
    {"order_caches", order_caches, METH_O, NULL},
    {"make_cache", (PyCFunction)(void (*)(void))make_cache, METH_FASTCALL, NULL},
    {"order_imports", order_imports, METH_O, NULL},
    {"order_prints", order_prints, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
