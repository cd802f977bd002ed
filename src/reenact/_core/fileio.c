/* The calls on files: os.open, reads, closing, and what _io.FileIO does in C. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static PyObject *opener;

static int flags_argument(PyObject *const *args, size_t count, PyObject *names)
{
    Py_ssize_t given = PyVectorcall_NARGS(count);
    PyObject *flags = given > 1 ? args[1] : NULL;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "flags") == 0) {
            flags = args[given + i];
        }
    }
    int overflow;
    return flags != NULL && PyLong_Check(flags) ? (int)PyLong_AsLongAndOverflow(flags, &overflow)
                                                : 0;
}

/* posix.open(path, flags, mode, dir_fd=...) */
PyObject *open_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    Py_ssize_t given = PyVectorcall_NARGS(count);
    if (thread == NULL || given < 1) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    PyObject *path = PyOS_FSPath(args[0]);
    if (path == NULL) {
        return NULL;
    }
    PyObject *changed[16];
    Py_ssize_t total = given + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    if (total > 16 || files_pass_path(path)) {
        Py_DECREF(path);
        return call_native(call, thread, args, count, names);
    }
    memcpy(changed, args, (size_t)total * sizeof *changed);
    changed[0] = path;
    int flags = flags_argument(args, count, names);
    PyObject *result =
        gate.settings.mode == MODE_REPLAY
            ? open_again(call, flags)
            : note_open(call, call_native(call, thread, changed, (size_t)given, names), flags);
    Py_DECREF(path);
    return result;
}

static Opened *logged_file(int fd, struct stat *found)
{
    Opened *entry = opened_at(fd);
    bool is_shared = entry != NULL && entry->file > 0 && files[entry->file - 1].is_shared;
    if (entry == NULL || !(entry->is_logged || entry->is_older || is_shared)) {
        return NULL;
    }
    Facts now = facts_of(found);
    return is_same_file(&entry->facts, &now) ? entry : NULL;
}

static PyObject *read_logged_again(const Call *call, Thread *thread, PyObject *const *args,
                                   size_t count, PyObject *names, int fd, Py_buffer *buffer)
{
    PyObject *result = NULL;
    int unused;
    call_take_input(call);
    enum Kept kept = value_take(buffer, &result, &unused);
    if (kept == KEPT_BROKEN || kept == KEPT_SIGNAL) {
        replay_bad_input("a value that is damaged");
    }
    if (kept == KEPT_NOT) {
        return call_native(call, thread, args, count, names);
    }
    Py_ssize_t moved = result == NULL          ? 0
                       : PyBytes_Check(result) ? PyBytes_GET_SIZE(result)
                       : PyLong_Check(result)  ? PyLong_AsSsize_t(result)
                                               : 0;
    if (!(call->flags & CALL_AT_OFFSET)) {
        lseek(fd, (off_t)moved, SEEK_CUR);
    }
    return result;
}

/* Asked after a read: whatever changed before or during it shows. */
static bool is_as_opened(int fd, const Opened *entry)
{
    struct stat found;
    Facts now = fstat(fd, &found) == 0 ? facts_of(&found) : (Facts){0};
    return is_unchanged(&entry->facts, &now);
}

static PyObject *read_logged(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                             PyObject *names, const Opened *entry)
{
    Py_buffer buffer;
    bool fills = call_buffer(call, args, count, &buffer);
    int fd = descriptor_of(call, args[0]);
    PyObject *result;
    if (gate.settings.mode == MODE_REPLAY) {
        result = read_logged_again(call, thread, args, count, names, fd, fills ? &buffer : NULL);
    }
    else {
        result = call_native(call, thread, args, count, names);
        call_begin_input(call, INPUT_OUTCOME);
        if (!entry->is_older && is_as_opened(fd, entry)) {
            value_put_performed();
        }
        else {
            call_keep(result, fills ? &buffer : NULL);
        }
    }
    if (fills) {
        PyBuffer_Release(&buffer);
    }
    return result;
}

/* Reads from regular files; all other reads are recorded. */
PyObject *read_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    struct stat found;
    if (thread == NULL || PyVectorcall_NARGS(count) < 1) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    if (fstat(descriptor_of(call, args[0]), &found) < 0 || !S_ISREG(found.st_mode)) {
        return recorded_call(self, args, count, names);
    }
    Opened *entry = logged_file(descriptor_of(call, args[0]), &found);
    if (entry == NULL) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    return read_logged(call, thread, args, count, names, entry);
}

/* What this run leaves in a file, so that it is known whether others changed it since. */
static void note_closing(int fd)
{
    Opened *entry = opened_at(fd);
    struct stat found;
    if (entry == NULL || entry->file == 0) {
        if (entry != NULL) {
            entry->is_older = false;
        }
        return;
    }
    File *file = &files[entry->file - 1];
    if (entry->writes && gate.settings.mode == MODE_RECORD && fstat(fd, &found) == 0) {
        Facts facts = facts_of(&found);
        if (is_same_file(&facts, &entry->facts)) {
            file->facts = facts;
            file->writers -= file->writers > 0;
        }
    }
    *entry = (Opened){.file = 0};
}

PyObject *close_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    if (gate.active && PyVectorcall_NARGS(count) > 0) {
        Thread *thread = me;
        if (gate.has_lanes && thread != NULL && thread->inside == 0) {
            PyObject *type, *value, *traceback;
            PyErr_Fetch(&type, &value, &traceback); /* of whoever lets go of the file */
            parallel_extra_point(thread);
            lane_closes(thread);
            PyErr_Restore(type, value, traceback);
        }
        note_closing(descriptor_of(call, args[0]));
    }
    return PyObject_Vectorcall(call->native, args, count, names);
}

/* ---- _io.FileIO ---- */

static initproc native_init;

/* What posix.open comes to, for a path that is text, with the mode that FileIO gives. */
static PyObject *open_plainly(PyObject *path, int flags)
{
    PyObject *encoded;
    if (!PyUnicode_FSConverter(path, &encoded)) {
        return NULL;
    }
    int fd, error, failed;
    do {
        Py_BEGIN_ALLOW_THREADS;
        fd = open(PyBytes_AS_STRING(encoded), flags, 0666);
        error = fd < 0 ? errno : 0;
        Py_END_ALLOW_THREADS;
        failed = error == EINTR ? PyErr_CheckSignals() : 0;
    } while (error == EINTR && failed == 0);
    Py_DECREF(encoded);
    errno = error;
    return fd >= 0  ? PyLong_FromLong(fd)
           : failed ? NULL
                    : PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
}

/* open_for_file(path, flags): as FileIO opens, through the table's open */
static PyObject *open_for_file(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || opener == NULL) {
        PyErr_SetString(PyExc_TypeError, "open_for_file(path, flags)");
        return NULL;
    }
    Call *call = (Call *)opener;
    bool is_plain = PyUnicode_CheckExact(args[0]) && PyLong_CheckExact(args[1]);
    if (is_plain && call_thread() != NULL) {
        int flags = (int)PyLong_AsLong(args[1]);
        return gate.settings.mode == MODE_REPLAY
                   ? open_again(call, flags)
                   : note_open(call, open_plainly(args[0], flags), flags);
    }
    PyObject *mode = PyLong_FromLong(0666);
    PyObject *given[] = {args[0], args[1], mode};
    PyObject *result = mode == NULL ? NULL : PyObject_Vectorcall(opener, given, 3, NULL);
    Py_XDECREF(mode);
    return result;
}

static PyMethodDef open_definition = {"open_for_file", (PyCFunction)(void (*)(void))open_for_file,
                                      METH_FASTCALL, NULL};
static PyObject *file_opener;

/* A file that is opened as it is takes any number that is free. In a replay of threads that ran at
 * the same time that may be one which another thread's file has next: so it has a high one. */
static int init_passed(PyObject *self, PyObject *args, PyObject *names)
{
    int result = native_init(self, args, names);
    FileObject *file = (FileObject *)self;
    if (result == 0 && gate.has_lanes && gate.settings.mode == MODE_REPLAY) {
        file->fd = move_high(file->fd);
    }
    return result;
}

/* FileIO(file, mode, closefd, opener): one that is opened by path gets our opener. */
static int init_file(PyObject *self, PyObject *args, PyObject *names)
{
    Thread *thread = gate_me();
    PyObject *file = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
    bool has_opener = (PyTuple_GET_SIZE(args) > 3 && PyTuple_GET_ITEM(args, 3) != Py_None) ||
                      (names != NULL && PyDict_GetItemString(names, "opener") != NULL);
    if (thread == NULL || file == NULL || has_opener || PyLong_Check(file)) {
        return native_init(self, args, names);
    }
    if (files_pass_path(file)) {
        return init_passed(self, args, names);
    }
    PyObject *shorter = PyTuple_GetSlice(args, 0, 3);
    PyObject *changed = names == NULL ? PyDict_New() : PyDict_Copy(names);
    int result = -1;
    if (shorter != NULL && changed != NULL &&
        PyDict_SetItemString(changed, "opener", file_opener) == 0) {
        result = native_init(self, shorter, changed);
    }
    Py_XDECREF(shorter);
    Py_XDECREF(changed);
    return result;
}

/* patch_files(FileIO, posix.open as wrapped) */
static PyObject *patch_files(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *type;
    PyObject *call;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &type, &call)) {
        return NULL;
    }
    file_opener = PyCFunction_New(&open_definition, NULL);
    opener = Py_NewRef(call);
    native_init = type->tp_init;
    type->tp_init = init_file;
    Py_RETURN_NONE;
}

PyMethodDef file_functions[] = {{"patch_files", patch_files, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
