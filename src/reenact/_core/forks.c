/* Forked children: each has a recording of its own, inside that of the first process.
 *
 * A process is named by its path in the tree of forks: "1" is the first child, "1.2" the second
 * child of that. Its streams lie in a directory of that name. The child of a recorded process
 * records, the child of a replayed one replays; both begin with one thread, numbers from one and
 * step zero. The switch is made in fork's own child handler, before any Python code runs there. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_REPLAYED = 1 << 16 };
enum { LONGEST_PATH = 12 }; /* with the longest name of a stream it fits into a packed file */

static char path[LONGEST_PATH + 16];
static uint32_t children;
static int write_root = -1, read_root = -1;
static bool forking; /* by the program, through fork_call */
static Thread survivor;

/* Children of this process in a replay: the numbers they had, and those they have. */
static struct {
    long recorded;
    pid_t real;
} replayed[MOST_REPLAYED];
static int replayed_count;

void forks_begin(int write_fd, int read_fd)
{
    write_root = move_high(dup(write_fd));
    read_root = move_high(dup(read_fd));
}

/* Where the recording of this process and of all it forks is written. */
int forks_directory(void)
{
    return write_root;
}

static int open_child(int root, bool make)
{
    if (make && mkdirat(root, path, 0700) < 0 && errno != EEXIST) {
        return -1;
    }
    return openat(root, path, O_DIRECTORY | O_CLOEXEC);
}

static int begin_streams(void)
{
    bool replays = gate.settings.mode == MODE_REPLAY;
    int write_fd = open_child(write_root, true);
    int read_fd = replays ? open_child(read_root, false) : -1;
    int failed = write_fd < 0 || (replays && read_fd < 0) || state_open(write_fd) < 0 ||
                 log_open(write_fd, gate.settings.mode) < 0 ||
                 (replays && (replay_map(read_fd) < 0 || replay_begin() < 0));
    close(write_fd);
    close(read_fd);
    return failed ? -1 : 0;
}

/* The thread that forked is the main thread, and the only one. */
static void begin_threads(void)
{
    Thread *thread = state_new_slot();
    int32_t index = thread->index;
    Object done = thread->done;
    *thread = survivor;
    thread->index = index;
    thread->done = done;
    thread->parent = -1;
    thread->ordinal = thread->children = 0;
    thread->run_next = thread->run_prev = thread->wait_next = thread->wait_prev = NULL;
    thread->waits_for = NULL;
    thread->queued = thread->timed = thread->expired = false;
    gate.run_first = gate.run_last = NULL;
    gate.outside = gate.timed = gate.foreign = 0;
    gate.leaving_tid = 0;
    gate.pid = getpid();
    threads_bind(thread);
    threads_move(thread);
    gate_adopt_main(thread);
}

static void forget(void)
{
    uint64_t base = 0;
    for (const char *at = path; *at != '\0'; at++) {
        base = base * 31 + (uint64_t)*at;
    }
    pthread_mutex_init(&gate.mutex, NULL);
    atomic_store(&gate.signals_pending, 0);
    sites_forget();
    calls_forget();
    objects_forget(survivor.index);
    replay_forget();
    clock_forget();
    output_forget();
    lanes_forget();
    shifts_forget();
    order_forget();
    flow_forget();
    turns_forget();
    deaths_forget();
    ordered_forget();
    files_forget((base & 0xffffff) << 24);
}

/* pthread_atfork's handlers. The slots are shared with the parent, which goes on at once. */
void forks_prepare(void)
{
    if (me != NULL) {
        survivor = *me;
    }
    objects_prepare();
}

void forks_in_child(void)
{
    objects_forked();
    bool is_unseen = gate.exploring && !log_is_on(); /* a search sees one process */
    is_unseen = epoch_leave() || is_unseen;
    if (!forking || !gate.active || me == NULL || is_unseen) {
        gate.active = gate.exploring = locks_are_watched = false;
        log_stop(0);
        me = NULL;
        return;
    }
    if (checkpoint_is_on()) { /* the travel is through its parent alone */
        _exit(0);
    }
    forking = false;
    children = 0;
    replayed_count = 0;
    log_leave();
    forget();
    gate.settings.last_step = -1;
    gate.settings.is_cut = true;
    if (begin_streams() < 0) {
        if (gate.settings.mode == MODE_REPLAY) {
            _exit(EXIT_UNUSABLE);
        }
        gate.active = false;
        me = NULL;
        return;
    }
    begin_threads();
    if (locks_are_watched) {
        locks_begin();
    }
}

void forks_in_parent(void)
{
    objects_forked();
    if (gate.active && quiet == 0 && !forking) {
        audit_note(NOTE_FORK, 0, me != NULL ? me->index : 0,
                   "native code forked a process that is not recorded");
        search_uncontrolled("native code forked a process, which is not explored");
    }
}

static bool descend(char *parent)
{
    strcpy(parent, path);
    int size = (int)strlen(path);
    int added =
        snprintf(path + size, sizeof path - (size_t)size, size > 0 ? ".%u" : "%u", ++children);
    return size + added <= LONGEST_PATH;
}

/* Where the recorded program found that a child had ended, the replay waits for its own to end. */
void forks_reap(PyObject *result)
{
    bool is_tuple = PyTuple_Check(result) && PyTuple_GET_SIZE(result) > 0;
    PyObject *first = is_tuple ? PyTuple_GET_ITEM(result, 0) : NULL;
    long recorded = first != NULL && PyLong_Check(first) ? PyLong_AsLong(first) : 0;
    for (int i = 0; recorded > 0 && i < replayed_count; i++) {
        if (replayed[i].recorded == recorded) {
            Py_BEGIN_ALLOW_THREADS;
            while (waitpid(replayed[i].real, NULL, 0) < 0 && errno == EINTR) {
            }
            Py_END_ALLOW_THREADS;
            replayed[i].recorded = 0;
        }
    }
    PyErr_Clear();
}

/* In the parent a replay returns the child's recorded number, not its real one. */
static PyObject *as_recorded(const Call *call, PyObject *pid)
{
    PyObject *recorded = NULL;
    int unused;
    call_take_input(call);
    if (value_take(NULL, &recorded, &unused) != KEPT) {
        replay_bad_input("a value that is damaged");
    }
    bool is_there = PyLong_AsLong(pid) > 0;
    if (is_there && recorded != NULL && PyLong_Check(recorded) && replayed_count < MOST_REPLAYED) {
        replayed[replayed_count].recorded = PyLong_AsLong(recorded);
        replayed[replayed_count++].real = (pid_t)PyLong_AsLong(pid);
    }
    Py_DECREF(pid);
    return recorded;
}

/* next_process(): the path of a process about to be started; empty if it would be too long */
static PyObject *next_process(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    char parent[sizeof path];
    bool fits = descend(parent);
    PyObject *text = PyUnicode_FromString(fits ? path : "");
    strcpy(path, parent);
    return text;
}

/* recording_descriptor(): of the directory of the recording */
static PyObject *recording_descriptor(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(write_root);
}

PyMethodDef fork_functions[] = {{"next_process", next_process, METH_NOARGS, NULL},
                                {"recording_descriptor", recording_descriptor, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};

/* Of a process that somebody travels through: the child has ended as it began. */
static PyObject *without_child(PyObject *pid)
{
    while (waitpid((pid_t)PyLong_AsLong(pid), NULL, 0) < 0 && errno == EINTR) {
    }
    Py_DECREF(pid);
    return PyLong_FromLong(0);
}

static bool has_one_thread(void)
{
    int count = 0;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        count += gate.slots[i].status != ENDED && gate.slots[i].status != FREE;
    }
    return count <= 1;
}

/* There, a fork by the only thread of the program is no fork, but all that Python does around one:
 * it would warn of our patrol, which cannot be stopped in a copy. */
static PyObject *fork_nobody(const Call *call)
{
    if (PySys_Audit("os.fork", NULL) < 0) {
        return NULL;
    }
    PyOS_BeforeFork();
    PyOS_AfterFork_Parent();
    return as_recorded(call, PyLong_FromLong(0));
}

/* posix.fork() */
PyObject *fork_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    char parent[sizeof path];
    if (thread == NULL || !descend(parent)) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    search_uncontrolled("the program forks a process, which is not explored");
    uint32_t descended = children;
    files_share();
    if (checkpoint_is_on() && gate.settings.mode == MODE_REPLAY && has_one_thread()) {
        strcpy(path, parent);
        return fork_nobody(call);
    }
    if (!checkpoint_is_on()) {
        patrol_stop();
    }
    forking = true;
    PyObject *pid = PyObject_Vectorcall(call->native, args, count, names);
    forking = false;
    if (!checkpoint_is_on()) {
        patrol_start();
    }
    if (pid != NULL && PyLong_AsLong(pid) == 0) {
        return pid;
    }
    strcpy(path, parent);
    children = descended;
    if (pid == NULL || !gate.active) {
        return pid;
    }
    if (checkpoint_is_on()) {
        pid = without_child(pid);
    }
    if (gate.settings.mode == MODE_REPLAY) {
        return as_recorded(call, pid);
    }
    call_begin_input(call, INPUT_OUTCOME);
    call_keep(pid, NULL);
    return pid;
}
