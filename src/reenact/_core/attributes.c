/* Attributes: which variables `a.b` reads or writes, as Python would find it.
 *
 * That of an object lies in the object or, to read, in its class or one of the bases; reading what
 * the object does not have depends on all of them in turn. Properties and other code of the
 * program's are no variables: what they touch, their bodies tell. Nor is what thread-locals and
 * other objects with a way of their own have. A site remembers what it has found out about the
 * class that it met last. */
#include "core.h"

/* Does the type find, or set, attributes as most do, or only after Python's __getattr__? */
static bool is_ordinary(PyTypeObject *type, const char *method, void *slot, void *generic)
{
    if (slot == generic) {
        return true;
    }
    PyObject *name = PyUnicode_InternFromString(method);
    PyObject *found = name == NULL ? NULL : _PyType_Lookup(type, name);
    Py_XDECREF(name);
    return found != NULL && Py_IS_TYPE(found, &PyWrapperDescr_Type) &&
           ((PyWrapperDescrObject *)found)->d_wrapped == generic;
}

static bool reads_as(PyTypeObject *type, getattrofunc generic)
{
    return is_ordinary(type, "__getattribute__", (void *)type->tp_getattro, (void *)generic);
}

static bool writes_as(PyTypeObject *type, setattrofunc generic, bool deletes)
{
    return is_ordinary(type, deletes ? "__delattr__" : "__setattr__", (void *)type->tp_setattro,
                       (void *)generic);
}

/* A slot, or a field of an object of C, as opposed to code of Python's. */
static bool is_field(PyObject *descriptor)
{
    return Py_IS_TYPE(descriptor, &PyMemberDescr_Type) ||
           Py_IS_TYPE(descriptor, &PyGetSetDescr_Type);
}

/* Can something be looked up in the type without running the program's code? */
static bool is_plain(PyTypeObject *type)
{
    PyObject *order = type->tp_mro;
    for (Py_ssize_t i = 0; order != NULL && i < PyTuple_GET_SIZE(order); i++) {
        PyObject *dict = compat_type_dict((PyTypeObject *)PyTuple_GET_ITEM(order, i));
        if (dict != NULL && !compat_has_plain_keys(dict)) {
            return false;
        }
    }
    return true;
}

static enum Manner manner_of(PyTypeObject *type, PyObject *name, AccessSite *site, bool writes)
{
    if (PyType_IsSubtype(type, &PyModule_Type)) {
        return MANNER_OF_MODULE;
    }
    if (!is_plain(type)) {
        return MANNER_NOTHING;
    }
    bool is_class = PyType_FastSubclass(type, Py_TPFLAGS_TYPE_SUBCLASS);
    PyTypeObject *model = is_class ? &PyType_Type : &PyBaseObject_Type;
    if (!site->is_raw && !(writes ? writes_as(type, model->tp_setattro, site->deletes)
                                  : reads_as(type, model->tp_getattro))) {
        return MANNER_NOTHING;
    }
    PyObject *found = _PyType_Lookup(type, name);
    if (found != NULL && Py_TYPE(found)->tp_descr_set != NULL) {
        return is_field(found) ? MANNER_OWN : MANNER_NOTHING;
    }
    if (is_class) {
        return MANNER_OF_CLASS;
    }
    return found == NULL || writes ? MANNER_OWN : MANNER_INHERITED;
}

/* Is the attribute one of the object's own, and nothing else, to read and to write? */
bool attributes_are_own(AccessSite *site, PyTypeObject *type, PyObject *name)
{
    return manner_of(type, name, site, false) == MANNER_OWN &&
           manner_of(type, name, site, true) == MANNER_OWN;
}

/* Where the site keeps what it has found out about the class; -1 if nowhere. */
static inline int place_of_class(const AccessSite *site, const PyTypeObject *type)
{
    uint32_t version = type->tp_version_tag;
    for (int i = 0; version != 0 && i < MOST_MANNERS; i++) {
        if (site->manners[i].version == version) {
            return i;
        }
    }
    return -1;
}

static inline enum Manner known_manner(const AccessSite *site, const PyTypeObject *type)
{
    int place = place_of_class(site, type);
    return place < 0 ? MANNER_UNKNOWN : (enum Manner)site->manners[place].manner;
}

/* To look something up in a type gives it a version, as long as there are any. */
static void learn_manner(AccessSite *site, const PyTypeObject *type, enum Manner manner)
{
    int place = site->next_manner++ % MOST_MANNERS;
    site->manners[place].version = type->tp_version_tag;
    site->manners[place].manner = (uint8_t)(type->tp_version_tag == 0 ? MANNER_UNKNOWN : manner);
    site->manners[place].epoch = 0;
    if (manner == MANNER_OWN && type->tp_version_tag != 0) {
        site->own_version = type->tp_version_tag;
    }
}

static enum Manner manner_at(AccessSite *site, PyTypeObject *type, PyObject *name, bool writes)
{
    enum Manner manner = name == site->name ? known_manner(site, type) : MANNER_UNKNOWN;
    if (manner == MANNER_UNKNOWN) {
        manner = manner_of(type, name, site, writes);
        if (name == site->name) {
            learn_manner(site, type, manner);
        }
    }
    return manner;
}

/* Has the object attributes only, and no contents? For sites that do not ask for attributes. */
bool attributes_are_all(AccessSite *site, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    enum Manner manner = known_manner(site, type);
    if (manner == MANNER_UNKNOWN) {
        manner = is_container(object) || type == &PySuper_Type ? MANNER_OWN : MANNER_NOTHING;
        learn_manner(site, type, manner);
    }
    return manner == MANNER_NOTHING;
}

/* A read that goes through classes in their order until one has the name. Python's own cannot be
 * changed. */
static int tell_classes(AccessSite *site, PyTypeObject *type, PyObject *name, TellVariable tell)
{
    PyObject *order = type->tp_mro;
    for (Py_ssize_t i = 0; order != NULL && i < PyTuple_GET_SIZE(order); i++) {
        PyTypeObject *each = (PyTypeObject *)PyTuple_GET_ITEM(order, i);
        PyObject *dict = compat_type_dict(each);
        if (dict == NULL || !compat_has_plain_keys(dict)) {
            return 0;
        }
        if ((each->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
            tell(site, (PyObject *)each, name, false) < 0) {
            return -1;
        }
        if (PyDict_GetItemWithError(dict, name) != NULL) {
            return 0;
        }
    }
    return 0;
}

/* Does setting what a new object is given set attributes of its own, and run no code? */
static bool is_given_plainly(AccessSite *site, PyTypeObject *type)
{
    enum Manner manner = known_manner(site, type);
    if (manner == MANNER_UNKNOWN) {
        manner = MANNER_OWN;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(site->names); i++) {
            if (manner_of(type, PyTuple_GET_ITEM(site->names, i), site, true) != MANNER_OWN) {
                manner = MANNER_NOTHING;
            }
        }
        learn_manner(site, type, manner);
    }
    return manner == MANNER_OWN;
}

/* An object is being made. What its constructor does to it has no sites as long as nobody else can
 * know the object; if somebody may, all of that is told now. */
int attributes_created(AccessSite *site, PyObject *object, TellVariable tell)
{
    enum Known known =
        races_created(site, object, site->writes || !is_given_plainly(site, Py_TYPE(object)));
    int result = 0;
    for (Py_ssize_t i = 0; known != UNKNOWN && result == 0 && i < PyTuple_GET_SIZE(site->names);
         i++) {
        PyObject *name = PyTuple_GET_ITEM(site->names, i);
        if (manner_of(Py_TYPE(object), name, site, true) == MANNER_OWN) {
            settled_written(site, name, known != MADE_AGAIN);
            result = tell(site, object, name, true);
        }
    }
    return result;
}

static bool is_class_told(const AccessSite *site, const PyTypeObject *type)
{
    int place = place_of_class(site, type);
    return place >= 0 && site->manners[place].epoch == me->epoch;
}

/* Is there nothing to tell of the site's attribute of an object that nobody else can know? Its
 * class may have a part in it. */
bool attributes_are_private(AccessSite *site, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    switch (known_manner(site, type)) {
    case MANNER_OWN:
    case MANNER_NOTHING: return true;
    case MANNER_INHERITED:
        return is_class_told(site, type) || compat_instance_has(object, site->name);
    default: return false;
    }
}

/* Was all that there is to tell of the site's attribute told of late, or could it be in short? */
bool attributes_repeat(AccessSite *site, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    switch (known_manner(site, type)) {
    case MANNER_UNKNOWN: return false;
    case MANNER_NOTHING: return true;
    case MANNER_INHERITED: return is_class_told(site, type) && races_repeat(site, object);
    default: return races_repeat(site, object);
    }
}

/* Tells one plain variable, which is all that the site has to tell of the object if that has it. */
static int tell_own(AccessSite *site, PyObject *object, PyObject *owner, PyObject *name,
                    bool writes, TellVariable tell)
{
    int result = tell(site, owner, name, writes);
    if (name == site->name) {
        races_remember(site, object);
    }
    return result;
}

static int tell_inherited(AccessSite *site, PyObject *object, PyObject *name, TellVariable tell)
{
    if (tell_own(site, object, object, name, false, tell) < 0) {
        return -1;
    }
    if (compat_instance_has(object, name)) {
        return 0;
    }
    int result = tell_classes(site, Py_TYPE(object), name, tell);
    int place = name == site->name ? place_of_class(site, Py_TYPE(object)) : -1;
    if (place >= 0 && me != NULL) {
        site->manners[place].epoch = me->epoch;
    }
    return result;
}

/* Tells the variables of an access to the attribute *name*. */
int attributes_tell(AccessSite *site, PyObject *object, PyObject *name, bool writes,
                    TellVariable tell)
{
    if (PyWeakref_CheckProxy(object)) {
        object = compat_proxied(object);
    }
    switch (manner_at(site, Py_TYPE(object), name, writes)) {
    case MANNER_OWN:
        return !writes && has_no_attributes(object)
                   ? 0
                   : tell_own(site, object, object, name, writes, tell);
    case MANNER_OF_MODULE: /* the same variable as the module's own code knows it */
        return tell_own(site, object, PyModule_GetDict(object), name, writes, tell);
    case MANNER_OF_CLASS:
        return writes ? tell(site, object, name, true)
                      : tell_classes(site, (PyTypeObject *)object, name, tell);
    case MANNER_INHERITED:
        return has_no_attributes(object) ? 0 : tell_inherited(site, object, name, tell);
    default: return 0;
    }
}
