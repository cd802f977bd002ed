/* Attributes of classes that are written while threads run.
 *
 * A location is an object and a name, and where an attribute is found, in the object or in one of
 * its classes, a site does not ask. Classes are seldom changed. So the first write to an attribute
 * of any class comes after all that other threads have done; from then on whoever accesses an
 * attribute of that name, of whatever object, also reads a location of all classes, and whoever
 * writes it in a class writes that. Names that share a place are taken for one. */
#include "core.h"

_Atomic uint8_t class_names[CLASS_NAMES];

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

void classes_tell_slowly(Thread *thread, const PyObject *name, bool writes)
{
    const PyObject *all = (const PyObject *)(const void *)class_name(name);
    bool is_light = gate.settings.order == ORDER_LIGHT;
    if (writes && atomic_load(class_name(name)) == 0) {
        if (!HAS_GIL) {
            turns_share((is_light ? flow_turn : order_turn)(all, NULL));
        }
        atomic_store(class_name(name), 1);
        come_after_all(thread);
    }
    if (is_light) {
        flow_access(thread, all, NULL, writes, false);
    }
    else {
        order_access(thread, all, NULL, writes);
    }
}
