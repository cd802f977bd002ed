/* reenact._core: what Python sees of the core. Typed by _core.pyi. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

PyObject *plant(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* install(lock type, RLock type, SimpleQueue type, _thread module): once, before anything runs */
static PyObject *install(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *lock, *rlock, *queue;
    PyObject *thread_module;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyType_Type, &lock, &PyType_Type, &rlock, &PyType_Type,
                          &queue, &thread_module)) {
        return NULL;
    }
    if (locks_install(lock, rlock) < 0 || queues_install(queue) < 0) {
        return NULL;
    }
    if (threads_install(thread_module) != 0 ||
        pthread_atfork(forks_prepare, forks_in_parent, forks_in_child) != 0) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

/* install_queues(SimpleQueue type): of a module _queue that was loaded anew */
static PyObject *install_queues(PyObject *module, PyObject *type)
{
    (void)module;
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "install_queues(type)");
        return NULL;
    }
    if (queues_install((PyTypeObject *)type) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *os_error(void)
{
    return PyErr_SetFromErrno(PyExc_OSError);
}

static int begin_gate(int write_fd, int read_fd)
{
    gate.pid = getpid();
    forks_begin(write_fd, read_fd);
    gate.random = gate.settings.seed;
    gate.choose_at_operations =
        gate.settings.mode == MODE_RECORD && gate.settings.strategy != STRATEGY_QUEUE;
    if (state_open(write_fd) < 0 || log_open(write_fd, gate.settings.mode) < 0) {
        return -1;
    }
    if (gate.settings.mode == MODE_REPLAY &&
        (files_begin(write_fd) < 0 || replay_map(read_fd) < 0 || replay_begin() < 0 ||
         (gate.is_parallel && obey_begin() < 0))) {
        return -1;
    }
    return checkpoint_is_on() ? 0 : patrol_start();
}

/* What the launcher tells the core, at the head of the control file: fixed in size, and read
 * without Python objects, so that record and replay look alike to Python's allocators. */
typedef struct {
    char magic[8];
    int32_t mode, write_fd, read_fd, strategy;
    uint64_t seed;
    int64_t slice, last_step;
    int32_t is_cut;
    int32_t held_fd;   /* held open until this process and all it forked have ended; -1 if none */
    int32_t orders_fd; /* of whoever travels through the replay, or keeps the epochs; -1: nobody */
    int32_t tools;     /* of an epoch: 1 overflows, 2 uses after free */
    int64_t epoch_bytes, epoch_steps, epoch_ns; /* when an epoch ends; 0: not for that */
    int32_t engine, order;
} Control;
static Control control;

/* control(fd): reads the control file and returns what follows the core's part of it */
static PyObject *read_control(PyObject *module, PyObject *fd_object)
{
    (void)module;
    static char text[1 << 18];
    long fd = PyLong_AsLong(fd_object);
    if (fd == -1 && PyErr_Occurred()) {
        return NULL;
    }
    ssize_t head = read((int)fd, &control, sizeof control);
    ssize_t size = read((int)fd, text, sizeof text);
    if (head != sizeof control || size < 0 || memcmp(control.magic, "control", 8) != 0) {
        PyErr_SetString(PyExc_ValueError, "not a control file");
        return NULL;
    }
    return PyBytes_FromStringAndSize(text, size);
}

/* keep_operations(kept): no for a run whose log nobody will read; then operations leave no trace */
static PyObject *keep_operations(PyObject *module, PyObject *kept)
{
    (void)module;
    operations_are_kept = gate.settings.mode != MODE_RECORD || PyObject_IsTrue(kept) != 0;
    Py_RETURN_NONE;
}

/* open_findings(): before start, a file for what analyses find, next to the log; its descriptor */
static PyObject *open_findings(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int fd = openat(control.write_fd, "findings", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    return fd < 0 ? os_error() : PyLong_FromLong(move_high(fd));
}

static void close_handed_down(int fd)
{
    if (control.held_fd >= 0) {
        move_high(control.held_fd);
    }
    close(control.write_fd);
    if (control.read_fd != control.write_fd) {
        close(control.read_fd);
    }
    close(fd);
}

/* A program that cannot be recorded runs all the same; one that cannot be replayed must not. */
static PyObject *cannot_begin(int fd)
{
    int error = errno;
    if (gate.settings.mode == MODE_REPLAY) {
        _exit(EXIT_UNUSABLE);
    }
    log_stop(error);
    close_handed_down(fd);
    errno = error;
    return os_error();
}

static int begin_order(void)
{
    bool is_recording = gate.settings.mode == MODE_RECORD;
    if (!gate.is_parallel || !is_recording || gate.settings.order == ORDER_SYNC) {
        return 0;
    }
    bool is_light = gate.settings.order == ORDER_LIGHT;
    return lane_sites_begin() < 0 || (is_light ? flow_begin() : order_begin()) < 0 ? -1 : 0;
}

/* start(control_fd, chooser): from here on the calling thread, main, is under control */
static PyObject *start_gate(PyObject *module, PyObject *args)
{
    (void)module;
    int fd;
    PyObject *chooser;
    if (!PyArg_ParseTuple(args, "iO", &fd, &chooser)) {
        return NULL;
    }
    if (gate.state != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "a process can be recorded or replayed once");
        return NULL;
    }
    int64_t least = control.strategy == STRATEGY_QUEUE ? 0 : 1;
    gate.settings = (Settings){.mode = (enum Mode)control.mode,
                               .strategy = (enum StrategyKind)control.strategy,
                               .seed = control.seed,
                               .slice = control.slice < least ? least : control.slice,
                               .last_step = control.last_step,
                               .is_cut = control.is_cut != 0,
                               .chooser = Py_NewRef(chooser),
                               .engine = (enum Engine)control.engine,
                               .order = (enum Order)control.order};
    gate.is_parallel = gate.settings.engine == ENGINE_PARALLEL;
    gate.has_lanes = gate.settings.engine != ENGINE_SERIAL;
    boots_install(); /* before canaries: they know an extension by where it calls from */
    bool has_epochs = control.orders_fd >= 0 && control.mode == MODE_RECORD;
    if (has_epochs) {
        epoch_begin(control.orders_fd, control.epoch_bytes, control.epoch_steps, control.epoch_ns,
                    control.tools);
    }
    else if (control.orders_fd >= 0) {
        checkpoint_begin(control.orders_fd);
    }
    if (begin_order() < 0 || begin_gate(control.write_fd, control.read_fd) != 0) {
        return cannot_begin(fd);
    }
    close_handed_down(fd);
    if (collect_take_over() < 0 || (gate.has_lanes && texts_install() < 0)) {
        return NULL;
    }
    objects_begin();
    Thread *thread = state_new_slot();
    thread->parent = -1;
    threads_bind(thread);
    gate_adopt_main(thread);
    baseline_open();
    gate.active = true;
    if (!epoch_start() && checkpoint_is_on()) {
        checkpoint_stop(STOPPED_AT_BEGINNING);
    }
    if (checkpoint_is_on()) {
        replay_grant(thread, gate_step()); /* it was told meanwhile where to stop next */
    }
    Py_RETURN_NONE;
}

/* at_last(function): called before the gate itself ends the process */
static PyObject *at_last(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(last_words, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* close(let_go): the end of the recorded part */
static PyObject *close_gate(PyObject *module, PyObject *let_go)
{
    (void)module;
    if (gate.active && me != NULL && getpid() == gate.pid) {
        bool goes_on = PyObject_IsTrue(let_go) == 1;
        parallel_extra_point(me);
        epoch_end(STOPPED_AT_END);
        checkpoint_stop(STOPPED_AT_END);
        gate_close(goes_on);
        collect_give_back();
        deaths_let_go();
        if (goes_on) {
            log_stop(0);
        }
    }
    Py_RETURN_NONE;
}

/* has_lanes(): whether this run is one of the parallel engine's, or was */
static PyObject *has_lanes(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(control.engine != ENGINE_SERIAL);
}

static PyObject *is_active(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(gate.active);
}

static PyObject *note_source(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path, *digest;
    if (!PyArg_ParseTuple(args, "ss", &path, &digest)) {
        return NULL;
    }
    if (gate.state != NULL) {
        site_note_source(path, digest);
    }
    Py_RETURN_NONE;
}

/* note_module(name): an installed package that the program loads */
static PyObject *note_module(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) {
        return NULL;
    }
    if (gate.state != NULL) {
        site_define_module(text);
    }
    Py_RETURN_NONE;
}

/* May another thread be running, or be about to? */
static bool has_others(void)
{
    for (uint32_t i = 0; gate.active && gate.is_parallel && i < gate.state->threads; i++) {
        const Thread *other = &gate.slots[i];
        if (other != me && other->status != FREE && other->status != ENDED) {
            return true;
        }
    }
    return false;
}

static PyObject *call_quietly(PyObject *function)
{
    Thread *thread = go_quiet();
    PyObject *result = PyObject_CallNoArgs(function);
    end_quiet(thread);
    PyErr_Clear();
    Py_XDECREF(result);
    return PyBool_FromLong(result != NULL);
}

/* in_child(function): runs it in a forked copy of this process, so that nothing of it is left
 * in this one's memory; False if the copy did not end well. Where others run, a copy could wait for
 * ever for what they had: the interpreter's lock, or one of its own. */
static PyObject *in_child(PyObject *module, PyObject *function)
{
    (void)module;
    int status = 0;
    if (has_others()) {
        return call_quietly(function);
    }
    quiet++;
    pid_t pid = fork();
    quiet--;
    if (pid == 0) {
        PyObject *result = PyObject_CallNoArgs(function);
        _exit(result == NULL ? 1 : 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return PyBool_FromLong(pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A launcher that is killed takes the program with it, as if they were one process. */
static PyObject *die_with_launcher(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Py_RETURN_NONE;
}

static PyObject *fix_addresses(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int now = personality(0xffffffff);
    return PyBool_FromLong(now != -1 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1);
}

static PyObject *addresses_are_fixed(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int now = personality(0xffffffff);
    return PyBool_FromLong(now != -1 && (now & ADDR_NO_RANDOMIZE) != 0);
}

/* watch_signal(number, is_default): its Python handler runs at points from now on */
static PyObject *watch_signal(PyObject *module, PyObject *args)
{
    (void)module;
    int number, is_default;
    if (!PyArg_ParseTuple(args, "ip", &number, &is_default)) {
        return NULL;
    }
    if ((control.mode == MODE_REPLAY ? signals_watch_replay(number)
                                     : signals_watch(number, is_default)) < 0) {
        return os_error();
    }
    Py_RETURN_NONE;
}

/* unwatch_signal(number): it has no Python handler any more */
static PyObject *unwatch_signal(PyObject *module, PyObject *given)
{
    (void)module;
    long number = PyLong_AsLong(given);
    if (number == -1 && PyErr_Occurred()) {
        return NULL;
    }
    signals_note_handler((int)number, false);
    Py_RETURN_NONE;
}

static PyObject *quietly(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "quietly(function, *args)");
        return NULL;
    }
    Thread *thread = go_quiet();
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)count - 1, NULL);
    end_quiet(thread);
    return result;
}

/* is_quiet(): whether the calling thread is inside a native call, or our own code */
static PyObject *is_quiet(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(quiet > 0);
}

static PyMethodDef functions[] = {
    {"install", install, METH_VARARGS, NULL},
    {"install_queues", install_queues, METH_O, NULL},
    {"control", read_control, METH_O, NULL},
    {"open_findings", open_findings, METH_NOARGS, NULL},
    {"keep_operations", keep_operations, METH_O, NULL},
    {"at_last", at_last, METH_O, NULL},
    {"start", start_gate, METH_VARARGS, NULL},
    {"close", close_gate, METH_O, NULL},
    {"is_active", is_active, METH_NOARGS, NULL},
    {"has_lanes", has_lanes, METH_NOARGS, NULL},
    {"plant", (PyCFunction)(void (*)(void))plant, METH_FASTCALL, NULL},
    {"note_source", note_source, METH_VARARGS, NULL},
    {"note_module", note_module, METH_O, NULL},
    {"in_child", in_child, METH_O, NULL},
    {"quietly", (PyCFunction)(void (*)(void))quietly, METH_FASTCALL, NULL},
    {"is_quiet", is_quiet, METH_NOARGS, NULL},
    {"die_with_launcher", die_with_launcher, METH_NOARGS, NULL},
    {"fix_addresses", fix_addresses, METH_NOARGS, NULL},
    {"addresses_are_fixed", addresses_are_fixed, METH_NOARGS, NULL},
    {"watch_signal", watch_signal, METH_VARARGS, NULL},
    {"unwatch_signal", unwatch_signal, METH_O, NULL},
    {"gc_enable", collect_enable, METH_NOARGS, NULL},
    {"gc_disable", collect_disable, METH_NOARGS, NULL},
    {"gc_isenabled", collect_is_enabled, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

#define AS_TEXT(name, text) text,
static int add_names(PyObject *module, const char *attribute, const char *const *names, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; i++) {
        PyTuple_SET_ITEM(tuple, i, PyUnicode_FromString(names[i]));
    }
    return tuple == NULL ? -1 : PyModule_AddObject(module, attribute, tuple);
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "reenact._core",
                                        .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__core(void)
{
    static const char *const OPERATION_NAMES[] = {OPERATIONS(AS_TEXT)};
    static const char *const OBJECT_NAMES[] = {OBJECTS(AS_TEXT)};
    PyTypeObject *types[] = {&WatchType,   &CallbackType, &OrderedType, &TickType,
                             &NumbersType, &OthersType,   &CallType,    &MethodCallType,
                             &BootType,    &ReadyType,    &ColdType};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyType_Ready(types[i]) < 0) {
            return NULL;
        }
    }
    PyObject *module =
        glance_ready() < 0 || regions_ready() < 0 ? NULL : PyModule_Create(&definition);
    if (module == NULL || compat_needs_no_gil(module) < 0 ||
        PyModule_AddFunctions(module, clock_functions) < 0 ||
        PyModule_AddFunctions(module, thread_functions) < 0 ||
        PyModule_AddFunctions(module, call_functions) < 0 ||
        PyModule_AddFunctions(module, import_functions) < 0 ||
        PyModule_AddType(module, &CallType) < 0 ||
        PyModule_AddFunctions(module, wrap_functions) < 0 ||
        PyModule_AddFunctions(module, ordered_functions) < 0 ||
        PyModule_AddFunctions(module, death_functions) < 0 ||
        PyModule_AddFunctions(module, key_functions) < 0 ||
        PyModule_AddFunctions(module, address_functions) < 0 ||
        PyModule_AddFunctions(module, input_functions) < 0 ||
        PyModule_AddFunctions(module, value_functions) < 0 ||
        PyModule_AddFunctions(module, site_functions) < 0 ||
        PyModule_AddFunctions(module, watch_functions) < 0 ||
        PyModule_AddFunctions(module, file_functions) < 0 ||
        PyModule_AddFunctions(module, path_functions) < 0 ||
        PyModule_AddFunctions(module, signal_functions) < 0 ||
        PyModule_AddFunctions(module, audit_functions) < 0 ||
        PyModule_AddFunctions(module, fork_functions) < 0 ||
        PyModule_AddFunctions(module, trace_functions) < 0 ||
        PyModule_AddFunctions(module, look_functions) < 0 ||
        PyModule_AddFunctions(module, epoch_functions) < 0 ||
        PyModule_AddFunctions(module, canary_functions) < 0 ||
        PyModule_AddFunctions(module, culprit_functions) < 0 ||
        PyModule_AddFunctions(module, explore_functions) < 0 ||
        PyModule_AddFunctions(module, point_functions) < 0 ||
        PyModule_AddFunctions(module, race_functions) < 0 ||
        PyModule_AddFunctions(module, settled_functions) < 0 ||
        PyModule_AddFunctions(module, found_functions) < 0 ||
        PyModule_AddFunctions(module, tape_functions) < 0 ||
        PyModule_AddFunctions(module, view_functions) < 0 ||
        PyModule_AddFunctions(module, lock_functions) < 0 ||
        PyModule_AddFunctions(module, lock_finding_functions) < 0 ||
        PyModule_AddFunctions(module, ready_functions) < 0 ||
        PyModule_AddObjectRef(module, "Ready", (PyObject *)&ReadyType) < 0 ||
        add_names(module, "OPERATIONS", OPERATION_NAMES, OP_COUNT) < 0 ||
        add_names(module, "OBJECTS", OBJECT_NAMES, OBJECT_COUNT) < 0) {
        return NULL;
    }
    return module;
}
