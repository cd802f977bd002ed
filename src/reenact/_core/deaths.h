/* What is known of weak references and of what they refer to: shared by watches.c, which has the
 * tables, deaths.c, which says when something dies, and references.c, which makes references. */
#ifndef REENACT_DEATHS_H
#define REENACT_DEATHS_H

#include "core.h"

#ifdef Py_GIL_DISABLED

typedef struct Mark Mark;

/* Of an object that has weak references: the callback of one of its own. */
typedef struct {
    PyObject_HEAD vectorcallfunc call;
    PyObject *own;     /* the reference that it is the callback of, until that is cleared */
    PyObject *kept;    /* in a serial replay: the object, until it has died */
    uintptr_t address; /* of the object */
    uint64_t number;
    uint32_t life;
    _Atomic bool is_noted;
    bool is_owed; /* it is dead, but for its finalizer; and has a reference to itself */
} Watch;

/* In place of the callback of a reference of the program's. */
typedef struct {
    PyObject_HEAD vectorcallfunc call;
    PyObject *callback;
    Mark *mark; /* NULL once the reference is gone */
    uint64_t number;
    uint32_t life;
    PyObject *due; /* the reference, kept until it is called; and with it a reference to itself */
} Callback;

/* What is known of a reference, until it is gone. */
struct Mark {
    PyObject *reference; /* borrowed */
    Watch *watch;
    Callback *callback; /* borrowed; NULL: none, or it is gone */
};

/* The process: what was made before a fork is of another. */
extern uint32_t deaths_life;
extern Guard deaths_guard; /* of the tables, and of what marks and callbacks know of each other */

/* watches.c; what finds, adds and removes while the guard is had */
enum Key { BY_OBJECT, BY_REFERENCE, BY_NUMBER, BY_CALLBACK_NUMBER, BY_TYPE };
Watch *watch_new(PyObject *object, uint64_t number);
Callback *callback_new(PyObject *native, uint64_t number);
void *watches_find(enum Key kind, uint64_t key);
void watches_add(enum Key kind, uint64_t key, void *value);
void *watches_remove(enum Key kind, uint64_t key);
Watch *watches_of_object(const PyObject *object);
Watch *watches_of_reference(const PyObject *reference);
void watches_settle(Watch *watch);
Watch *watches_next_kept(uint32_t *bucket);

/* deaths.c */
Thread *deaths_counted(void);
bool deaths_are_obeyed(void);
bool deaths_are_noted(void);
int deaths_point(Thread *thread, const void *accessed, const char *name, bool writes);
void deaths_note(Thread *thread, Watch *watch, enum Death death);
PyObject *deaths_watch_called(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *deaths_callback_called(PyObject *self, PyObject *const *args, size_t count,
                                 PyObject *names);
bool deaths_can_watch(const PyObject *object);
void deaths_watch_finalizer(PyTypeObject *type);
extern const char deaths_watched[], deaths_referred[]; /* names of locations */

#endif
#endif
