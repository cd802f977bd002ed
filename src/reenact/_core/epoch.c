/* A run in epochs: it can go back to where the current one began, and no further.
 *
 * An epoch begins with a frozen copy of the process (fork.c). What was logged before is dropped,
 * and with it the copy of the epoch before: whatever a long run costs, it does not grow. Somebody
 * outside, the keeper, is given each copy. When something goes wrong the process tells the keeper,
 * and waits; the keeper has copies of the frozen copy run through the epoch again, as replays of
 * what this process has logged in it (checkpoint.c), as often as it likes. Then this process goes
 * on, or ends. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum WordKind { WORD_EPOCH = 1, WORD_FAILED, WORD_ENDED, WORD_NO_EPOCH, WORD_DAMAGED, WORD_LOST };
enum Tool { TOOL_OVERFLOW = 1, TOOL_FREED = 2 };
enum { TEXT_SIZE = 2000, SPACING_STEPS = 200000, WAIT_MS = 10000 };

typedef struct {
    int32_t kind, pid;
    int64_t step;
    int32_t thread, reason;
    char text[TEXT_SIZE];
} Word;

static int keeper_fd = -1;
static struct {
    uint64_t bytes; /* an epoch ends when so much was logged, */
    int64_t steps;  /* or so many points were passed, */
    int64_t ns;     /* or so long a time; 0: whatever it takes */
} limits;
static int64_t began_step, began_ns, retry_step;
static bool has_keeper;
static bool must_end; /* this epoch must not be run again: it has done what cannot be done twice */
static int tools;     /* bits of enum Tool */
bool epoch_is_due;
_Atomic bool epoch_is_looked_at;
static const char *no_epochs; /* why there are none; NULL if there are */

static void tell(enum WordKind kind, pid_t pid, enum StopReason reason, const char *text, int fd)
{
    Word word = {.kind = kind, .pid = pid, .step = gate_step(), .reason = reason};
    word.thread = gate.holder == NULL ? -1 : gate.holder->index;
    strncpy(word.text, text, TEXT_SIZE - 1);
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.space = {0}};
    struct iovec from = {&word, sizeof word};
    struct msghdr message = {.msg_iov = &from, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *goes = CMSG_FIRSTHDR(&message);
        goes->cmsg_level = SOL_SOCKET;
        goes->cmsg_type = SCM_RIGHTS;
        goes->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(goes), &fd, sizeof fd);
    }
    while (sendmsg(keeper_fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

/* What the keeper wants: true if the run is to go on. */
static bool hear(void)
{
    int32_t said = 1;
    ssize_t size;
    bool before = atomic_exchange(&epoch_is_looked_at, true); /* copies read the log meanwhile */
    do {
        size = recv(keeper_fd, &said, sizeof said, MSG_WAITALL);
    } while (size < 0 && errno == EINTR);
    atomic_store(&epoch_is_looked_at, before);
    return size == sizeof said && said == 0;
}

/* Asked now and then, under gate.mutex: the next point is to begin an epoch if it is time. */
void epoch_look(void)
{
    int64_t step = gate_step();
    if (keeper_fd < 0 || gate.settings.mode != MODE_RECORD || step < retry_step) {
        return;
    }
    if (log_size() > limits.bytes || (limits.steps > 0 && step - began_step >= limits.steps) ||
        (limits.ns > 0 && real_ns() - began_ns >= limits.ns)) {
        epoch_is_due = true;
    }
}

static bool is_there(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        ready = poll(&waiting, 1, WAIT_MS);
    } while (ready < 0 && errno == EINTR);
    return ready == 1 && (waiting.revents & POLLIN) && !(waiting.revents & POLLHUP);
}

static void begin(void)
{
    log_rewind();
    sites_renew();
    files_renew();
    files_mark_older();
    must_end = false;
    began_step = gate_step();
    began_ns = real_ns();
    retry_step = 0;
}

/* Before an epoch is given up: has somebody written where nobody may? Then the keeper looks who. */
static void look_at_memory(enum StopReason reason)
{
    static char text[TEXT_SIZE];
    text[0] = '\0';
    if (tools != 0 && canaries_tell(text, sizeof text) > 0) {
        tell(WORD_DAMAGED, getpid(), reason, text, -1);
        if (!hear()) {
            _exit(1);
        }
    }
}

static bool renew_unseen(void)
{
    int ends[2];
    epoch_is_due = false;
    look_at_memory(STOPPED_AT_STEP);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        retry_step = gate_step() + SPACING_STEPS;
        return false;
    }
    int theirs = move_high(ends[0]), copys = move_high(ends[1]);
    files_note_positions();
    pid_t pid = fork_all(false, true);
    if (pid == 0) {
        close(theirs);
        close(keeper_fd);
        keeper_fd = -1;
        if (state_become_private() < 0) {
            _exit(EXIT_UNUSABLE);
        }
        files_mark_older();
        files_let_go();
        checkpoint_wait(copys);
        return true;
    }
    close(copys);
    if (pid > 0 && is_there(theirs)) {
        begin();
        tell(WORD_EPOCH, pid, STOPPED_AT_STEP, "", theirs);
    }
    else {
        retry_step = gate_step() + SPACING_STEPS;
        tell(must_end ? WORD_LOST : WORD_NO_EPOCH, 0, STOPPED_AT_STEP,
             pid == -EAGAIN ? "a thread could not be held" : "the process could not be copied", -1);
    }
    close(theirs);
    return false;
}

/* At a point, with baton and GIL. True in a copy that somebody has gone back to: it is a replay. */
bool epoch_renew(void)
{
    atomic_store(&epoch_is_looked_at, true);
    bool is_copy = renew_unseen();
    atomic_store(&epoch_is_looked_at, false);
    return is_copy;
}

/* A point, where the epoch ends if it can: the next is to begin here. */
static int end_here(Thread *thread)
{
    if (keeper_fd >= 0 && gate.settings.mode == MODE_RECORD) {
        epoch_is_due = true;
        gate_look_soon(thread);
    }
    return gate_enter(thread, OP_NONE, NULL);
}

/* After a call that a replay would make again, and that must not be made twice. */
int epoch_close(Thread *thread)
{
    must_end = has_keeper;
    return has_keeper ? end_here(thread) : 0;
}

/* A forked child runs on without epochs: the keeper keeps its parent. */
bool epoch_leave(void)
{
    if (keeper_fd < 0) {
        return false;
    }
    close(keeper_fd);
    keeper_fd = -1;
    has_keeper = epoch_is_due = false;
    return true;
}

/* The end, as the gate knows it. */
void epoch_end(enum StopReason reason)
{
    if (keeper_fd >= 0 && gate.settings.mode == MODE_RECORD) {
        bool is_well = reason == STOPPED_AT_END;
        look_at_memory(reason);
        tell(is_well ? WORD_ENDED : WORD_FAILED, getpid(), reason, is_well ? "" : "deadlock", -1);
        if (!is_well) {
            hear();
        }
    }
}

/* What a replay prints was printed; files that it writes to are its own. */
static void be_silent(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; nothing >= 0 && fd < 3; fd++) {
        struct stat found;
        if (fstat(fd, &found) == 0 && !S_ISREG(found.st_mode)) {
            dup2(nothing, fd);
        }
    }
    close(nothing);
}

/* In a frozen copy: what it does from now on was logged, up to this step. */
void epoch_become_replay(int64_t last_step)
{
    gate.settings.mode = MODE_REPLAY;
    gate.settings.last_step = last_step;
    gate.settings.is_cut = true;
    gate.choose_at_operations = false;
    gate.stop_step = -1;
    if (log_become_replay() < 0) {
        _exit(EXIT_UNUSABLE);
    }
    files_become_replay();
    be_silent();
}

/* Before there are other threads. */
void epoch_begin(int fd, int64_t bytes, int64_t steps, int64_t ns, int wanted_tools)
{
    const char *refusal = fork_begin();
    tools = wanted_tools;
    if (refusal == NULL && tools != 0) {
        refusal = canaries_start(tools & TOOL_OVERFLOW, tools & TOOL_FREED);
    }
    keeper_fd = move_high(fd);
    limits.bytes = bytes > 0 ? (uint64_t)bytes : UINT64_MAX;
    limits.steps = steps;
    limits.ns = ns;
    has_keeper = refusal == NULL;
    no_epochs = refusal;
}

/* The first epoch, at the program's first step. True in a copy, as of epoch_renew. */
bool epoch_start(void)
{
    if (keeper_fd >= 0 && no_epochs == NULL) {
        return epoch_renew();
    }
    if (keeper_fd >= 0) {
        tell(WORD_NO_EPOCH, 0, STOPPED_AT_BEGINNING, no_epochs, -1);
        close(keeper_fd);
        keeper_fd = -1;
    }
    return false;
}

/* epoch_failed(text, is_raised): tells the keeper of an exception, or of a call that wants to go
 * back, and waits; True if the run is to go on. None if there is no keeper, or this is a replay.
 * Each has a step of its own: a replay must not take one for another. */
static PyObject *failed(PyObject *module, PyObject *args)
{
    (void)module;
    const char *said;
    int is_raised;
    if (!PyArg_ParseTuple(args, "sp", &said, &is_raised)) {
        return NULL;
    }
    if (gate.settings.mode == MODE_REPLAY && me != NULL && gate_step() == gate.settings.last_step) {
        checkpoint_stop(STOPPED_AT_END); /* the log goes no further */
    }
    PyObject *answer = Py_None;
    if (keeper_fd >= 0 && me != NULL && gate.settings.mode == MODE_RECORD) {
        int64_t stopped_ns = real_ns();
        tell(WORD_FAILED, getpid(), is_raised ? STOPPED_AT_PLACE : STOPPED_AT_STEP, said, -1);
        answer = hear() ? Py_True : Py_False;
        began_ns += real_ns() - stopped_ns; /* the keeper's time is none of the epoch's */
    }
    bool goes_on = has_keeper && me != NULL && answer != Py_False;
    return goes_on && tick(me) < 0 ? NULL : Py_NewRef(answer);
}

/* epoch_is_on(): in copies, too */
static PyObject *is_on(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(has_keeper);
}

/* epoch_renew(): an epoch begins here, if one can */
static PyObject *renew(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (has_keeper && me != NULL && end_here(me) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef epoch_functions[] = {{"epoch_failed", failed, METH_VARARGS, NULL},
                                 {"epoch_renew", renew, METH_NOARGS, NULL},
                                 {"epoch_is_on", is_on, METH_NOARGS, NULL},
                                 {NULL, NULL, 0, NULL}};
