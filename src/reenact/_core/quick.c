/* Calls that we can make ourselves without waiting: tried at once, before the native ones.
 *
 * Data is often there already, and room to send nearly always. Then neither the baton nor the
 * interpreter's lock changes hands, which makes these calls about as fast as without us. */
#include "core.h"
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MEMORY_DEVICES = 1 }; /* the major number of /dev/null and its like */

/* Arguments as most callers give them; everything else takes the ordinary way. */
static bool small_integer(PyObject *value, Py_ssize_t *number)
{
    if (!PyLong_CheckExact(value)) {
        return false;
    }
    int overflow;
    *number = (Py_ssize_t)PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 && *number >= 0;
}

static PyObject *recv_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    Py_ssize_t wanted;
    if (count != 2 || !small_integer(args[1], &wanted) || wanted == 0 || wanted > 1 << 20) {
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, wanted);
    if (bytes == NULL) {
        PyErr_Clear();
        return NULL;
    }
    ssize_t got =
        recv(((SocketObject *)args[0])->fd, PyBytes_AS_STRING(bytes), (size_t)wanted, MSG_DONTWAIT);
    if (got < 0) {
        Py_DECREF(bytes);
        return NULL;
    }
    if (got != wanted) {
        _PyBytes_Resize(&bytes, got);
    }
    return bytes;
}

static PyObject *recv_into_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    Py_buffer buffer;
    if (count != 2 || PyObject_GetBuffer(args[1], &buffer, PyBUF_WRITABLE) < 0) {
        PyErr_Clear();
        return NULL;
    }
    ssize_t got = buffer.len == 0 ? -1
                                  : recv(((SocketObject *)args[0])->fd, buffer.buf,
                                         (size_t)buffer.len, MSG_DONTWAIT);
    PyBuffer_Release(&buffer);
    return got < 0 ? NULL : PyLong_FromSsize_t(got);
}

static PyObject *send_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    Py_buffer buffer;
    if (count != 2 || PyObject_GetBuffer(args[1], &buffer, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return NULL;
    }
    ssize_t sent = send(((SocketObject *)args[0])->fd, buffer.buf, (size_t)buffer.len,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    PyBuffer_Release(&buffer);
    return sent < 0 ? NULL : PyLong_FromSsize_t(sent);
}

/* What was sent cannot be taken back: if it was only a part, the rest is left to the caller. */
static PyObject *sendall_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    Py_buffer buffer;
    if (count != 2 || PyObject_GetBuffer(args[1], &buffer, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return NULL;
    }
    ssize_t size = buffer.len;
    ssize_t sent =
        send(((SocketObject *)args[0])->fd, buffer.buf, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL);
    PyBuffer_Release(&buffer);
    if (sent > 0 && sent < size) {
        PyObject *whole = PyMemoryView_FromObject(args[1]);
        PyObject *flat = whole == NULL ? NULL : PyObject_CallMethod(whole, "cast", "s", "B");
        *rest = flat == NULL ? NULL : PySequence_GetSlice(flat, sent, size);
        Py_XDECREF(whole);
        Py_XDECREF(flat);
    }
    return sent == size ? Py_NewRef(Py_None) : NULL;
}

static bool takes_at_once(int fd, size_t size)
{
    struct stat facts;
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    if (fstat(fd, &facts) < 0) {
        return false;
    }
    return (S_ISCHR(facts.st_mode) && major(facts.st_rdev) == MEMORY_DEVICES) ||
           (S_ISFIFO(facts.st_mode) && size <= PIPE_BUF && poll(&room, 1, 0) == 1 &&
            room.revents == POLLOUT);
}

static PyObject *write_at_once(int fd, PyObject *data)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return NULL;
    }
    ssize_t written =
        takes_at_once(fd, (size_t)buffer.len) ? write(fd, buffer.buf, (size_t)buffer.len) : -1;
    PyBuffer_Release(&buffer);
    return written < 0 ? NULL : PyLong_FromSsize_t(written);
}

static PyObject *write_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    Py_ssize_t fd;
    return count == 2 && small_integer(args[0], &fd) ? write_at_once((int)fd, args[1]) : NULL;
}

static PyObject *file_write_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    return count == 2 ? write_at_once(((FileObject *)args[0])->fd, args[1]) : NULL;
}

static PyObject *flock_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    Py_ssize_t fd, operation;
    bool is_done = count == 2 && small_integer(args[0], &fd) &&
                   small_integer(args[1], &operation) &&
                   flock((int)fd, (int)operation | LOCK_NB) == 0;
    return is_done ? Py_NewRef(Py_None) : NULL;
}

/* So few bytes are there at once, whatever the kernel does. */
static PyObject *urandom_quickly(PyObject *const *args, Py_ssize_t count, PyObject **rest)
{
    (void)rest;
    Py_ssize_t wanted;
    if (count != 1 || !small_integer(args[0], &wanted) || wanted > 256) {
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, wanted);
    if (bytes != NULL && gate.exploring) {
        search_fill(PyBytes_AS_STRING(bytes), (size_t)wanted);
    }
    else if (bytes != NULL && getrandom(PyBytes_AS_STRING(bytes), (size_t)wanted, 0) != wanted) {
        Py_CLEAR(bytes);
    }
    PyErr_Clear();
    return bytes;
}

QuickCall quick_call(const char *name)
{
    static const struct {
        const char *name;
        QuickCall call;
    } QUICK[] = {
        {"_socket.socket.recv", recv_quickly}, {"_socket.socket.recv_into", recv_into_quickly},
        {"_socket.socket.send", send_quickly}, {"_socket.socket.sendall", sendall_quickly},
        {"posix.write", write_quickly},        {"_io.FileIO.write", file_write_quickly},
        {"fcntl.flock", flock_quickly},        {"posix.urandom", urandom_quickly}};
    for (size_t i = 0; i < sizeof QUICK / sizeof *QUICK; i++) {
        if (strcmp(QUICK[i].name, name) == 0) {
            return QUICK[i].call;
        }
    }
    return NULL;
}
