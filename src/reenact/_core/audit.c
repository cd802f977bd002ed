/* Nothing in silence: what reaches outside without going through the table is noted.
 *
 * The interpreter raises an audit event for most calls that do. One that is raised while no call
 * of the table is being made, by a thread under control, went past us: it is noted, once for
 * each kind and place, with the line it came from. Under --strict the first note ends the run. */
#include "core.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NOTED = 512, LONGEST_TEXT = 400 };

static bool is_strict;

void audit_note(enum NoteKind kind, uint64_t value, int32_t thread, const char *text)
{
    log_note_text(kind, value, thread, text);
    if (is_strict && gate.settings.mode == MODE_RECORD) {
        dprintf(2, "reenact: strict: %s\n", text);
        report_uncontrolled(text);
    }
}

/* Events below these names reach outside. */
static const char *const OUTSIDE_EVENTS[] = {"os.",
                                             "socket.",
                                             "ctypes.dlopen",
                                             "sqlite3.connect",
                                             "syslog.",
                                             "pty.",
                                             "fcntl.",
                                             "signal.",
                                             "resource.",
                                             "gdbm.",
                                             "dbm.",
                                             "_posixsubprocess.",
                                             "setopencodehook"};
/* But these do not, or are covered by what they lead to. */
static const char *const HARMLESS_EVENTS[] = {
    "os.putenv",      "os.unsetenv",         "os.walk",       "os.fwalk", "os.fork",
    "os.posix_spawn", "signal.pthread_kill", "os.listdrives", "os.kill"};

static bool begins_with_any(const char *event, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(event, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

#define AMONG(event, names) begins_with_any(event, names, sizeof names / sizeof *names)

/* The innermost line of the program's own, below the libraries that it called. */
static const char *program_line(int *line)
{
    const char *found = NULL;
    Frame *frame = compat_top_frame(PyThreadState_Get());
    for (; frame != NULL; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        const char *file = code == NULL ? NULL : PyUnicode_AsUTF8(code->co_filename);
        bool is_library = file == NULL || file[0] == '<' || files_are_below(file);
        if (file != NULL && (found == NULL || !is_library)) {
            found = file;
            *line = PyCode_Addr2Line(code, compat_frame_offset(frame, code));
        }
        if (found != NULL && !is_library) {
            break;
        }
    }
    PyErr_Clear();
    return found;
}

static void describe(char *text, const char *event, PyObject *args)
{
    PyObject *first =
        PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
    const char *argument = first != NULL && PyUnicode_Check(first) ? PyUnicode_AsUTF8(first) : NULL;
    PyErr_Clear();
    int size = snprintf(text, LONGEST_TEXT, "%s%s%.100s", event, argument == NULL ? "" : " ",
                        argument == NULL ? "" : argument);
    int line = 0;
    const char *file = program_line(&line);
    if (file != NULL && size > 0 && size < LONGEST_TEXT) {
        snprintf(text + size, (size_t)(LONGEST_TEXT - size), " at %s:%d", file, line);
    }
}

static bool is_new(const char *text)
{
    static uint32_t noted[MOST_NOTED];
    static int count;
    uint32_t hash = 2166136261u;
    for (const char *at = text; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    for (int i = 0; i < count; i++) {
        if (noted[i] == hash) {
            return false;
        }
    }
    if (count < MOST_NOTED) {
        noted[count++] = hash;
    }
    return count < MOST_NOTED;
}

/* A module in native code that no row and no boundary knows: what it does is its own affair. */
static void note_native_module(PyObject *args)
{
    PyObject *name = PyTuple_Size(args) > 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    PyObject *file = name == NULL ? NULL : PyTuple_GET_ITEM(args, 1);
    const char *path = file != NULL && PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;
    PyErr_Clear();
    if (path == NULL || strstr(path, "-packages/") == NULL || strstr(path, ".so") == NULL) {
        return;
    }
    char text[LONGEST_TEXT];
    describe(text, "native module", args);
    if (is_new(text)) {
        log_note_text(NOTE_NATIVE_MODULE, 0, me->index, text);
    }
}

static int hook(const char *event, PyObject *args, void *unused)
{
    (void)unused;
    if (!gate.active || me == NULL || strcmp(event, "open") == 0) {
        return 0;
    }
    if (strcmp(event, "import") == 0) {
        note_native_module(args);
    }
    else if (AMONG(event, OUTSIDE_EVENTS) && !AMONG(event, HARMLESS_EVENTS) &&
             !(PyTuple_Size(args) > 0 && PyTuple_GET_ITEM(args, 0) == Py_None)) {
        char text[LONGEST_TEXT];
        describe(text, event, args);
        if (is_new(text)) {
            audit_note(NOTE_UNLISTED, 0, me->index, text);
        }
    }
    return 0;
}

/* watch_events(strict) */
static PyObject *watch_events(PyObject *module, PyObject *strict)
{
    (void)module;
    is_strict = PyObject_IsTrue(strict) == 1;
    if (PySys_AddAuditHook(hook, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef audit_functions[] = {{"watch_events", watch_events, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
