/* Attributes of classes that are written while threads run.
 *
 * A location is an object and a name, and where an attribute is found, in the object or in one of
 * its classes, a site does not ask. Classes are seldom changed. So the first write to an attribute
 * of any class comes after all that other threads have done; from then on whoever accesses an
 * attribute of that name, of whatever object, also reads a location of all classes, and whoever
 * writes it in a class writes that. Names that share a place are taken for one.
 *
 * In the same way, what is done to an object's __dict__ is done to its attributes. Once such a
 * dictionary was asked for, whoever accesses attributes of objects of that class, of those that
 * have a dictionary, accesses that as well. It is made as it is first asked for, which writes what
 * others read who find none: so those must find none once all is theirs, or look again. */
#include "core.h"

_Atomic uint8_t class_names[CLASS_NAMES], open_classes[CLASS_NAMES];
PyObject *classes_dict_name;

/* With a GIL, what a thread does at its present point may be over or not; before, it is. */
static void come_after_all(Thread *thread)
{
    for (uint32_t i = 0; HAS_GIL && i < gate.state->threads; i++) {
        const Thread *other = &gate.slots[i];
        if (other != thread && other->status != FREE) {
            lane_after(thread, (Deed){other->index, thread_position(other) - 1});
        }
    }
}

/* Whoever accesses it next, to write, comes after all that others have done so far. */
static void begin(Thread *thread, _Atomic uint8_t *place)
{
    const PyObject *all = (const PyObject *)(const void *)place;
    if (!HAS_GIL) {
        turns_share((gate.settings.order == ORDER_LIGHT ? flow_turn : order_turn)(all, NULL));
    }
    atomic_store(place, 1);
    come_after_all(thread);
}

void classes_tell_slowly(Thread *thread, const PyObject *name, bool writes)
{
    _Atomic uint8_t *place = class_name(name);
    if (writes && atomic_load(place) == 0) {
        begin(thread, place);
    }
    access_in_order(thread, (const PyObject *)(const void *)place, NULL, writes, false);
}

void classes_open(Thread *thread, const PyTypeObject *type)
{
    _Atomic uint8_t *place = open_class(type);
    if (atomic_load(place) == 0) {
        begin(thread, place);
        access_in_order(thread, (const PyObject *)(const void *)place, NULL, true, false);
    }
}

void classes_tell_dict(Thread *thread, PyObject *object, bool writes)
{
    PyObject **values, *dict = compat_instance_dict(object, &values);
    if (dict != NULL) {
        access_in_order(thread, dict, NULL, writes, writes);
    }
    else if (!HAS_GIL && values != NULL) {
        access_in_order(thread, object, classes_dict_name, false, false);
        thread->lane.without_dict = object;
    }
}

/* Has an object still no dictionary that had none when it was told? */
bool classes_are_as_told(void *object)
{
    PyObject **values;
    return compat_instance_dict(object, &values) == NULL;
}

/* Whoever asks for the dictionary makes it, if there is none yet. */
bool classes_make_dict(PyObject *object, const PyObject *name)
{
    PyObject **values;
    return !HAS_GIL && name == classes_dict_name && compat_instance_dict(object, &values) == NULL &&
           values != NULL;
}
