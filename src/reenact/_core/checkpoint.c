/* A process that somebody travels through: it stops at steps, and does what it is told there.
 *
 * Orders come through a socket, and answers go back. A stopped process can copy itself; the copy
 * gets a socket of its own with the order and waits there, frozen, for as long as the other end
 * is open. It can be copied again, sent on to a step, or made to talk: then Python code of ours
 * (reenact.debug.agent) runs in it, after which it is no longer what the program would be, and is
 * thrown away. All others never run a line of ours: they stay exactly what the recording was. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum OrderKind { ORDER_RUN = 1, ORDER_COPY, ORDER_TALK, ORDER_REPLAY };
enum AnswerKind { ANSWER_STOPPED = 1, ANSWER_COPIED, ANSWER_READY };

typedef struct {
    int32_t kind, unused;
    int64_t step; /* run: up to here; negative: to the end. replay: where the log ends */
} Order;

enum { REFUSAL_SIZE = 96 };

typedef struct {
    int32_t kind;
    int32_t number; /* copied: the copy's process; negative: an errno, there is none */
    int64_t step;
    int32_t thread, reason;
    char refusal[REFUSAL_SIZE]; /* why this process cannot be copied; empty if it can */
} Answer;

static int orders_fd = -1;
static bool is_frozen;
static const char *refusal;
static char told[REFUSAL_SIZE];

bool checkpoint_is_on(void)
{
    return orders_fd >= 0;
}

static void answer(enum AnswerKind kind, int number, enum StopReason reason)
{
    Answer said = {.kind = kind, .number = number, .step = gate_step(), .reason = reason};
    said.thread = gate.holder == NULL ? -1 : gate.holder->index;
    strncpy(said.refusal, refusal == NULL ? "" : refusal, REFUSAL_SIZE - 1);
    if (send(orders_fd, &said, sizeof said, MSG_NOSIGNAL) != sizeof said) {
        _exit(0);
    }
}

/* The next order, with the descriptor that came with it, -1 if none did; whoever gave orders may be
 * gone. */
static Order receive(int *fd)
{
    Order order = {.kind = 0};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec into = {&order, sizeof order};
    struct msghdr message = {.msg_iov = &into, .msg_iovlen = 1};
    ssize_t size;
    do {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        size = recvmsg(orders_fd, &message, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size != sizeof order) {
        _exit(0);
    }
    struct cmsghdr *came = CMSG_FIRSTHDR(&message);
    *fd = -1;
    if (came != NULL && came->cmsg_type == SCM_RIGHTS) {
        memcpy(fd, CMSG_DATA(came), sizeof *fd);
        *fd = move_high(*fd);
    }
    return order;
}

static void copy(int fd)
{
    pid_t pid = refusal != NULL ? -ENOSYS : fork_all(is_frozen, true);
    if (pid != 0) {
        close(fd);
        answer(ANSWER_COPIED, pid, STOPPED_AT_STEP);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(orders_fd);
    orders_fd = fd;
    is_frozen = true;
    files_become_private();
    answer(ANSWER_READY, getpid(), STOPPED_AT_STEP);
}

static void thaw(void)
{
    if (is_frozen && !fork_thaw()) {
        _exit(EXIT_UNUSABLE);
    }
    is_frozen = false;
}

/* Python code of ours takes the orders from now on, until it lets the program go on. */
void checkpoint_talk(enum StopReason reason)
{
    PyObject *type, *value, *traceback;
    Thread *thread = go_quiet();
    PyErr_Fetch(&type, &value, &traceback);
    static PyObject *agent;
    if (agent == NULL) {
        agent = unseen_import("reenact.debug.agent");
    }
    PyObject *done = agent == NULL ? NULL
                                   : PyObject_CallMethod(agent, "talk", "iii", orders_fd,
                                                         (int)reason, thread->index);
    if (done == NULL) {
        PyErr_Print();
        _exit(EXIT_UNUSABLE);
    }
    Py_DECREF(done);
    PyErr_Restore(type, value, traceback);
    end_quiet(thread);
}

static void serve(enum StopReason reason)
{
    for (;;) {
        int fd;
        Order order = receive(&fd);
        switch (order.kind) {
        case ORDER_COPY: copy(fd); break;
        case ORDER_RUN:
            thaw();
            gate.stop_step = order.step;
            if (gate.active && gate.holder == me && gate.settings.mode == MODE_REPLAY) {
                replay_grant(me, gate_step());
            }
            return;
        case ORDER_REPLAY:
            epoch_become_replay(order.step);
            files_become_private();
            answer(ANSWER_STOPPED, getpid(), reason);
            break;
        case ORDER_TALK:
            thaw();
            checkpoint_talk(reason);
            return;
        default: _exit(0);
        }
    }
}

/* The calling thread has baton and GIL; it goes on when it returns. */
void checkpoint_stop(enum StopReason reason)
{
    if (orders_fd < 0) {
        return;
    }
    if (trace_is_on()) {
        trace_stop(reason);
        return;
    }
    answer(ANSWER_STOPPED, getpid(), reason);
    serve(reason);
}

/* A copy of a process that records waits here, frozen, until somebody goes back to it; as a replay
 * it then goes on. */
void checkpoint_wait(int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    orders_fd = fd;
    is_frozen = true;
    answer(ANSWER_READY, getpid(), STOPPED_AT_STEP);
    serve(STOPPED_AT_STEP);
}

/* Before the program's first step. */
void checkpoint_begin(int fd)
{
    orders_fd = move_high(fd);
    refusal = told[0] != '\0' ? told : fork_begin();
}

/* refuse_copies(why): for tests, before a run; as on a system where processes cannot be copied */
PyObject *checkpoint_refuse(PyObject *module, PyObject *why)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8(why);
    if (text == NULL) {
        return NULL;
    }
    strncpy(told, text, sizeof told - 1);
    Py_RETURN_NONE;
}
