/* Descriptors have the numbers they had: programs see them, and keep them in tables.
 *
 * A call that made a descriptor for something outside (a connection, a pipe) is not performed by
 * a replay, which puts a stand-in at the number. One that made something of this process's own
 * (a socket object, a copy, a memory file) is performed, and what it made is moved there. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_MADE = 8 };

/* Moves fd to number, which must be free; -1 if it is not. */
int descriptor_move(int fd, int number)
{
    if (fd == number || fd < 0) {
        return fd;
    }
    if (fcntl(number, F_GETFD) >= 0) {
        close(fd);
        errno = EBUSY;
        return -1;
    }
    int moved = dup3(fd, number, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(fd);
    return moved;
}

int descriptor_place(int number, enum Place place)
{
    int fd = place == PLACE_SOCKET ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
             : place == PLACE_NULL ? open("/dev/null", O_RDWR | O_CLOEXEC)
                                   : open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return descriptor_move(fd, number);
}

static bool place_one(PyObject *number)
{
    int overflow;
    long fd = PyLong_AsLongAndOverflow(number, &overflow);
    return overflow == 0 && fd >= 0 && fd < 1 << 20 && descriptor_place((int)fd, PLACE_SOCKET) >= 0;
}

/* Stand-ins for the descriptors in a result: an integer, or the integers of a tuple. */
bool descriptors_place_all(PyObject *result)
{
    if (PyLong_Check(result)) {
        return place_one(result);
    }
    for (Py_ssize_t i = 0; PyTuple_Check(result) && i < PyTuple_GET_SIZE(result); i++) {
        PyObject *item = PyTuple_GET_ITEM(result, i);
        if (PyLong_CheckExact(item) && !place_one(item)) {
            return false;
        }
    }
    return true;
}

/* ---- what a replay makes itself ---- */

/* Where a new descriptor is kept: sockets, epolls and files have it as their first field. */
static int *field_of(PyObject *made)
{
    return &((FileObject *)made)->fd;
}

static int collect(PyObject *self, PyObject *result, PyObject **made)
{
    if (result == Py_None) {
        made[0] = self;
        return 1;
    }
    if (!PyTuple_Check(result)) {
        made[0] = result;
        return 1;
    }
    int count = (int)PyTuple_GET_SIZE(result);
    for (int i = 0; i < count && i < MOST_MADE; i++) {
        made[i] = PyTuple_GET_ITEM(result, i);
    }
    return count < MOST_MADE ? count : MOST_MADE;
}

static int number_of(PyObject *made)
{
    return PyLong_Check(made) ? (int)PyLong_AsLong(made) : *field_of(made);
}

static PyObject *note_numbers(PyObject *self, PyObject *result)
{
    PyObject *made[MOST_MADE];
    int count = collect(self, result, made);
    PyObject *numbers = PyTuple_New(count);
    for (int i = 0; numbers != NULL && i < count; i++) {
        PyTuple_SET_ITEM(numbers, i, PyLong_FromLong(number_of(made[i])));
    }
    return numbers;
}

static int set_aside(int fd)
{
    int flags = fcntl(fd, F_GETFD), high = move_high(fd);
    fcntl(high, F_SETFD, flags);
    return high;
}

static PyObject *moved(PyObject *self, PyObject *result, PyObject *numbers)
{
    PyObject *made[MOST_MADE];
    int count = collect(self, result, made);
    if (!PyTuple_Check(numbers) || PyTuple_GET_SIZE(numbers) != count) {
        replay_bad_input("other descriptors");
    }
    int aside[MOST_MADE]; /* the number of one may be where the next was made */
    for (int i = 0; i < count; i++) {
        aside[i] = count > 1 ? set_aside(number_of(made[i])) : number_of(made[i]);
    }
    for (int i = 0; i < count; i++) {
        int number = (int)PyLong_AsLong(PyTuple_GET_ITEM(numbers, i));
        if (descriptor_move(aside[i], number) < 0) {
            replay_bad_input("a descriptor that is in use");
        }
        if (!PyLong_Check(made[i])) {
            *field_of(made[i]) = number;
        }
    }
    if (PyLong_Check(made[0])) {
        bool is_tuple = PyTuple_Check(result);
        Py_DECREF(result);
        return Py_NewRef(is_tuple ? numbers : PyTuple_GET_ITEM(numbers, 0));
    }
    return result;
}

static PyObject *first_of(PyObject *const *args, size_t count)
{
    return PyVectorcall_NARGS(count) > 0 ? args[0] : NULL;
}

static PyObject *make_again(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                            PyObject *names)
{
    PyObject *numbers = NULL;
    int unused;
    call_take_input(call);
    enum Kept kept = value_take(NULL, &numbers, &unused);
    if (kept != KEPT) {
        replay_bad_input("a value that is damaged");
    }
    if (numbers == NULL) {
        return NULL; /* as it failed then */
    }
    PyObject *result = call_native(call, thread, args, count, names);
    if (result != NULL) {
        result = moved(first_of(args, count), result, numbers);
    }
    Py_DECREF(numbers);
    return result;
}

PyObject *makes_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    if (thread == NULL) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    if (gate.settings.mode == MODE_REPLAY) {
        return make_again(call, thread, args, count, names);
    }
    PyObject *result = call_native(call, thread, args, count, names);
    PyObject *numbers = result == NULL ? NULL : note_numbers(first_of(args, count), result);
    call_begin_input(call, INPUT_OUTCOME);
    call_keep(numbers, NULL);
    Py_XDECREF(numbers);
    return result;
}
