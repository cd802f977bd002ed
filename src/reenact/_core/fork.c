/* Copies of this process with all its threads, which fork() alone does not give.
 *
 * A thread that waits in the gate waits in park(): its registers lie on its own stack, and where is
 * written down. To copy the process, one thread makes sure that every other one is held in such a
 * place - threads that are not ours are brought there by a signal - and calls clone() itself. In
 * the copy only that one thread exists; the others are made again when they are needed, each on
 * its old stack, with its old thread-local memory, and return from park() as if they had been
 * woken for nothing. Neither glibc nor Python learns of it: all addresses stay what they were.
 *
 * While threads are held, nothing here allocates, takes a lock or touches a Python object. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif
enum { MOST_PARKED = 4096, RSEQ_SIGNATURE = 0x53053053, COMMAND_SIZE = 16, SYSCALL_SIZE = 2 };
enum { POLITE_NS = 20000000, CALLED_NS = 100000000, PATIENT_NS = 2000000000, LOOK_NS = 50000 };

/* rseq is what glibc 2.35 and later register for each thread. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

enum ParkState {
    AT_LARGE,
    CALLED, /* by a signal that it has not got yet */
    PARKED,
    HELD /* until whoever holds it lets it go */
};

/* Where a thread waits, and what is needed to make it again. */
typedef struct {
    void *stack; /* its stack pointer; park_here counts on this being first */
    _Atomic int32_t state;
    pid_t tid;         /* 0: the place is free */
    bool is_called;    /* by a signal: it goes when it is let go, and not before */
    uintptr_t storage; /* its thread-local memory */
    int *tid_address;
    void *robust;
    size_t robust_size;
    uint64_t blocked; /* signals */
    char name[COMMAND_SIZE];
    uintptr_t top, next; /* called while it waits in the kernel: its stack, and what it does next */
} Place;

static Place places[MOST_PARKED];
static _Atomic int32_t used; /* places beyond were never anybody's */
static bool is_on;
static __thread Place *my_place;
__thread jmp_buf *fork_mark;
static _Atomic int32_t missing; /* threads of a copy that are not there again yet */
static _Atomic int32_t may_go;  /* all of them are */
static uint64_t blocked_before; /* signals of the thread that copied, */
static pid_t copied_by;         /* and its number */

static int64_t time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until_changed(_Atomic int32_t *word, int32_t value, int64_t at_most_ns)
{
    struct timespec limit = {at_most_ns / 1000000000, at_most_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, at_most_ns < 0 ? NULL : &limit);
}

static void wake_all(_Atomic int32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

/* ---- parking ---- */

typedef struct {
    const _Atomic int32_t *word; /* waits as long as this is 0 */
    const struct timespec *deadline;
    long failed;
    int error;
} Wait;

#if defined(__x86_64__) && !defined(REENACT_UNKNOWN_CPU)
enum { KNOWS_CPU = true };

/* park_here(place, wait): writes down where the calling thread is, then waits. Returns 0 in the
 * thread itself, 1 in its copy. remake(flags, place, ...) is clone(), onto the stack of a place. */
int park_here(Place *place, Wait *wait) __attribute__((visibility("hidden")));
long remake(long flags, Place *place, int *tid, int *cleared, uintptr_t storage)
    __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden park_here\n .type park_here, @function\n .globl park_here\n"
        "park_here:\n .cfi_startproc\n"
        " push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset rbp, 0\n"
        " push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset rbx, 0\n"
        " push %r12\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset r12, 0\n"
        " push %r13\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset r13, 0\n"
        " push %r14\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset r14, 0\n"
        " push %r15\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset r15, 0\n"
        " sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n"
        " stmxcsr (%rsp)\n fnstcw 4(%rsp)\n"
        " mov %rsp, (%rdi)\n"
        " call park_wait\n"
        " xor %eax, %eax\n"
        " jmp 2f\n"
        "1:\n" /* a copy comes here, with the stack pointer that was written down */
        " mov $1, %eax\n"
        "2:\n"
        " ldmxcsr (%rsp)\n fldcw 4(%rsp)\n"
        " add $8, %rsp\n .cfi_adjust_cfa_offset -8\n"
        " pop %r15\n .cfi_adjust_cfa_offset -8\n pop %r14\n .cfi_adjust_cfa_offset -8\n"
        " pop %r13\n .cfi_adjust_cfa_offset -8\n pop %r12\n .cfi_adjust_cfa_offset -8\n"
        " pop %rbx\n .cfi_adjust_cfa_offset -8\n pop %rbp\n .cfi_adjust_cfa_offset -8\n"
        " ret\n .cfi_endproc\n .size park_here, . - park_here\n"
        ".hidden remake\n .type remake, @function\n .globl remake\n"
        "remake:\n .cfi_startproc\n"
        " push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset rbx, 0\n"
        " mov %rsi, %rbx\n"
        " mov (%rsi), %rsi\n"
        " mov %rcx, %r10\n"
        " mov $56, %eax\n" /* SYS_clone */
        " syscall\n"
        " test %rax, %rax\n"
        " jz 3f\n"
        " pop %rbx\n .cfi_adjust_cfa_offset -8\n"
        " ret\n"
        "3:\n .cfi_undefined rip\n"
        " mov %rbx, %rdi\n"
        " call begin_again\n"
        " jmp 1b\n"
        " .cfi_endproc\n .size remake, . - remake\n");

/* Where a thread was when a signal came: its stack, and what it does next. */
static uintptr_t top_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

static uintptr_t next_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}
#else
enum { KNOWS_CPU = false }; /* so that fork_begin() refuses, and nothing of this is called */

static int park_here(Place *place, Wait *wait)
{
    (void)place, (void)wait;
    return 0;
}

static long remake(long flags, Place *place, int *tid, int *cleared, uintptr_t storage)
{
    (void)flags, (void)place, (void)tid, (void)cleared, (void)storage;
    return -1;
}

static uintptr_t top_of(const ucontext_t *context)
{
    (void)context;
    return 0;
}

static uintptr_t next_of(const ucontext_t *context)
{
    (void)context;
    return 0;
}
#endif

/* Below the stack pointer of its place: a copy never comes back here. */
__attribute__((used, visibility("hidden"))) void park_wait(Place *place, Wait *wait)
{
    atomic_store(&place->state, PARKED);
    if (!place->is_called) {
        wait->failed = syscall(SYS_futex, wait->word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0,
                               wait->deadline, NULL, FUTEX_BITSET_MATCH_ANY);
        wait->error = errno;
    }
    int32_t state = PARKED;
    while (state != AT_LARGE) {
        state = PARKED;
        if (!place->is_called && atomic_compare_exchange_strong(&place->state, &state, AT_LARGE)) {
            return;
        }
        sleep_until_changed(&place->state, state, -1);
        state = atomic_load(&place->state);
    }
}

/* The first code of a thread in a copy; all signals are blocked. */
__attribute__((used, visibility("hidden"))) void begin_again(Place *place)
{
    if (&__rseq_size != NULL && __rseq_size > 0) {
        syscall(SYS_rseq, place->storage + (uintptr_t)__rseq_offset, 32, 0, RSEQ_SIGNATURE);
    }
    syscall(SYS_set_robust_list, place->robust, place->robust_size);
    prctl(PR_SET_NAME, place->name);
    if (atomic_fetch_sub(&missing, 1) == 1) {
        wake_all(&missing);
    }
    while (atomic_load(&may_go) == 0) {
        sleep_until_changed(&may_go, 0, -1);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &place->blocked, NULL, sizeof place->blocked);
}

static Place *free_place(pid_t tid)
{
    for (int32_t i = 0; i < MOST_PARKED; i++) {
        pid_t nobody = 0;
        if (__atomic_compare_exchange_n(&places[i].tid, &nobody, tid, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            int32_t before = atomic_load(&used);
            while (before <= i && !atomic_compare_exchange_weak(&used, &before, i + 1)) {
            }
            return &places[i];
        }
    }
    return NULL;
}

/* What the calling thread alone can tell of itself. */
static void describe_me(Place *place)
{
    place->tid = (pid_t)syscall(SYS_gettid);
    place->storage = (uintptr_t)pthread_self();
    prctl(PR_GET_TID_ADDRESS, &place->tid_address);
    syscall(SYS_get_robust_list, 0, &place->robust, &place->robust_size);
}

/* Waits as long as *word is 0, as futex() does, where the thread can be held and copied. */
long fork_park(const _Atomic int32_t *word, const struct timespec *deadline, int *error)
{
    if (is_on && my_place == NULL) {
        my_place = free_place((pid_t)syscall(SYS_gettid));
        if (my_place != NULL) {
            my_place->is_called = false;
            describe_me(my_place);
        }
    }
    if (my_place == NULL) {
        long failed = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, deadline,
                              NULL, FUTEX_BITSET_MATCH_ANY);
        *error = errno;
        return failed;
    }
    Wait wait = {.word = word, .deadline = deadline};
    if (park_here(my_place, &wait) == 1) {
        return 0;
    }
    *error = wait.error;
    return wait.failed;
}

bool fork_is_on(void)
{
    return is_on;
}

/* The calling thread ends. */
void fork_leave(void)
{
    if (my_place != NULL) {
        my_place->tid = 0;
        my_place = NULL;
    }
}

/* ---- threads that are not ours ---- */

static int signal_number(void)
{
    return SIGRTMIN + 9;
}

/* Is the thread still where it was seen to wait? It may have gone on, and be anywhere. */
static bool is_still_there(const Place *place, const ucontext_t *context)
{
    uintptr_t top = top_of(context), next = next_of(context);
    return place->top == 0 ||
           (top == place->top && (next == place->next || next + SYSCALL_SIZE == place->next));
}

/* A copy of a thread in an outside call does not wait for the outside again: what the call came to
 * is in the log, and the call is left for good. */
static void on_signal(int number, siginfo_t *info, void *given)
{
    (void)number;
    const ucontext_t *context = given;
    Place *place = info->si_value.sival_ptr;
    int error = errno, called = CALLED;
    bool is_ours = info->si_code == SI_QUEUE && place >= places && place < places + MOST_PARKED &&
                   place->tid == (pid_t)syscall(SYS_gettid);
    if (is_ours && atomic_compare_exchange_strong(&place->state, &called, AT_LARGE)) {
        Wait wait = {.error = 0};
        bool is_copy = false;
        if (is_still_there(place, context)) {
            describe_me(place);
            is_copy = park_here(place, &wait) == 1;
        }
        place->tid = 0;
        if (is_copy && fork_mark != NULL && gate.settings.mode == MODE_REPLAY) {
            syscall(SYS_rt_sigprocmask, SIG_SETMASK, &context->uc_sigmask, NULL, sizeof(uint64_t));
            _longjmp(*fork_mark, 1);
        }
    }
    errno = error;
}

/* The system call that a thread waits in, from the kernel's view: its number, and where the thread
 * will go on; -1 if it runs. */
static long waits_in(pid_t tid, uintptr_t *top, uintptr_t *next)
{
    char text[256], *at = text;
    proc_read(tid, "syscall", text, sizeof text);
    if (*at < '0' || *at > '9') {
        return -1;
    }
    long number = strtol(at, &at, 10);
    for (int i = 0; i < 6; i++) {
        strtoul(at, &at, 16);
    }
    *top = strtoul(at, &at, 16);
    *next = strtoul(at, &at, 16);
    return number;
}

static void call_by_signal(pid_t tid, uintptr_t top, uintptr_t next)
{
    Place *place = free_place(tid);
    if (place == NULL) {
        return;
    }
    place->top = top;
    place->next = next;
    siginfo_t info = {.si_signo = signal_number(), .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_value.sival_ptr = place;
    place->is_called = true;
    atomic_store(&place->state, CALLED);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, info.si_signo, &info) < 0) {
        place->tid = 0;
    }
}

/* ---- holding everybody ---- */

typedef bool (*EachThread)(pid_t tid);

static bool each_other(const char *name, void *given)
{
    pid_t tid = (pid_t)strtol(name, NULL, 10);
    return tid == 0 || tid == (pid_t)syscall(SYS_gettid) || (*(EachThread *)given)(tid);
}

/* Calls each with every other thread of the process; false as soon as it does, or if unknown. */
static bool each_thread(EachThread each)
{
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool all = proc_each(fd, each_other, &each);
    if (fd >= 0) {
        close(fd);
    }
    return all;
}

/* Where a thread is, or else where it is called to; NULL if it is at large. */
static Place *place_of(pid_t tid)
{
    Place *called = NULL;
    for (int i = 0; i < atomic_load(&used); i++) {
        if (places[i].tid == tid) {
            int32_t state = atomic_load(&places[i].state);
            if (state == PARKED || state == HELD) {
                return &places[i];
            }
            called = state == CALLED ? &places[i] : called;
        }
    }
    return called;
}

/* A thread that has ended is there no more, unless it is the process's first: in a copy that is
 * the one which made it, whichever that was. */
static bool has_ended(pid_t tid)
{
    char state = proc_state(tid);
    return state == 'Z' || state == 'X';
}

static bool hold(pid_t tid)
{
    Place *place = place_of(tid);
    int32_t parked = PARKED;
    if (place == NULL) {
        return tid == getpid() && has_ended(tid);
    }
    return atomic_load(&place->state) == HELD ||
           atomic_compare_exchange_strong(&place->state, &parked, HELD);
}

static const Thread *controlled(pid_t tid)
{
    for (uint32_t i = 0; gate.state != NULL && i < gate.state->threads; i++) {
        if (gate.slots[i].tid == tid && gate.slots[i].status != ENDED) {
            return &gate.slots[i];
        }
    }
    return NULL;
}

/* Threads of ours come by themselves, but from outside calls. There one is called only while it
 * waits for the outside: in a futex it may be on its way back, and in no call it may hold a lock of
 * some library's. */
static bool hold_or_call(pid_t tid)
{
    if (hold(tid) || place_of(tid) != NULL) {
        return true;
    }
    const Thread *thread = controlled(tid);
    uintptr_t top = 0, next = 0;
    long number = thread == NULL ? 0 : thread->away ? waits_in(tid, &top, &next) : -1;
    if (thread == NULL || (number >= 0 && number != SYS_futex)) {
        call_by_signal(tid, top, next);
    }
    return true;
}

static void let_all_go(void)
{
    for (int i = 0; i < atomic_load(&used); i++) {
        Place *place = &places[i];
        int32_t state = atomic_load(&place->state), called = CALLED;
        if (place->tid == 0) {
            continue;
        }
        if (state == HELD || (state == PARKED && place->is_called)) {
            atomic_store(&place->state, place->is_called ? AT_LARGE : PARKED);
            wake_all(&place->state);
        }
        else if (atomic_compare_exchange_strong(&place->state, &called, AT_LARGE)) {
            place->tid = 0; /* it did not come, and need not any more */
        }
    }
}

/* What the kernel tells of a thread: the signals that it blocks, and its name. */
static void read_status(Place *place)
{
    char text[2048];
    proc_read(place->tid, "status", text, sizeof text);
    const char *mask = strstr(text, "SigBlk:\t");
    place->blocked = 0;
    for (mask = mask == NULL ? "" : mask + 8; *mask != '\0' && *mask != '\n'; mask++) {
        place->blocked =
            place->blocked << 4 | (uint64_t)(*mask <= '9' ? *mask - '0' : *mask - 'a' + 10);
    }
    const char *name = strstr(text, "Name:\t");
    memset(place->name, 0, sizeof place->name);
    for (int i = 0; name != NULL && i < COMMAND_SIZE - 1 && name[6 + i] != '\n'; i++) {
        place->name[i] = name[6 + i];
    }
}

static bool has_place(pid_t tid)
{
    for (int i = 0; i < atomic_load(&used); i++) {
        if (places[i].tid == tid) {
            return true;
        }
    }
    return false;
}

/* False of a thread that is not ours and that our signal cannot reach; one that has just been
 * started blocks all signals for a moment. */
static bool can_be_called(pid_t tid)
{
    Place place = {.tid = tid};
    if (has_place(tid) || controlled(tid) != NULL || has_ended(tid)) {
        return true;
    }
    read_status(&place);
    return (place.blocked >> (signal_number() - 1) & 1) == 0;
}

/* Lets the others go on for a moment, those that wait for the GIL among them. */
static void give_way(void)
{
    PyThreadState *tstate = PyEval_SaveThread();
    struct timespec pause = {0, LOOK_NS};
    nanosleep(&pause, NULL);
    PyEval_RestoreThread(tstate);
}

/* Calls threads that are not ours, and waits for them with the GIL: so none of them has it, nor any
 * part of it, where it is held. */
static bool call_others(void)
{
    int64_t began = time_ns();
    bool all = false;
    each_thread(hold_or_call);
    while (!(all = each_thread(hold)) && time_ns() - began < CALLED_NS) {
        struct timespec pause = {0, LOOK_NS};
        nanosleep(&pause, NULL);
    }
    if (!all) {
        let_all_go();
    }
    return all;
}

/* Holds every other thread; false if one cannot be. Threads on their way into the gate get there
 * first; with the baton here they get no further. One that has just been called, or just been
 * started, cannot be called for a moment, which may be long on a busy machine. */
static bool hold_all(void)
{
    int64_t began = time_ns(), waited = 0, could_be = began;
    bool all = each_thread(hold);
    for (; !all && waited < PATIENT_NS; waited = time_ns() - began) {
        give_way();
        all = each_thread(hold);
        if (all || waited <= POLITE_NS) {
            continue;
        }
        if (each_thread(can_be_called)) {
            all = call_others();
            could_be = time_ns();
        }
        else if (time_ns() - could_be > CALLED_NS) {
            return false;
        }
    }
    return all;
}

/* ---- copying ---- */

static uint64_t block_signals(void)
{
    uint64_t all = ~0ULL, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    return before;
}

static void unblock_signals(uint64_t before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

/* A copy of this one thread. */
static pid_t clone_alone(bool is_sibling)
{
    Place self = {.tid = 0};
    describe_me(&self);
    long flags =
        SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | (is_sibling ? CLONE_PARENT : 0);
    long pid = syscall(SYS_clone, flags, NULL, NULL, self.tid_address, 0);
    if (pid == 0) {
        syscall(SYS_set_robust_list, self.robust, self.robust_size);
    }
    return (pid_t)(pid < 0 ? -errno : pid);
}

/* Copies the process. A copy is frozen: it has one thread, and the others exist again after
 * fork_thaw(). A frozen process can be copied as well. A sibling's parent is our parent. Returns 0
 * in the copy, or else its number; -EAGAIN if some thread does not come to where it can be held.
 * Called with baton and GIL. */
pid_t fork_all(bool is_frozen, bool is_sibling)
{
    if (is_frozen) {
        return clone_alone(is_sibling);
    }
    if (!is_on || !hold_all()) {
        let_all_go();
        return -EAGAIN;
    }
    blocked_before = block_signals();
    copied_by = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < atomic_load(&used); i++) {
        if (places[i].tid != 0 && atomic_load(&places[i].state) == HELD) {
            read_status(&places[i]);
        }
    }
    pid_t pid = clone_alone(is_sibling);
    if (pid != 0) {
        let_all_go();
        unblock_signals(blocked_before);
    }
    return pid;
}

static void renumber(pid_t before, pid_t now)
{
    for (uint32_t i = 0; gate.state != NULL && i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->tid == before && thread->status != ENDED) {
            thread->tid = now;
            if (thread->tstate != NULL) {
                thread->tstate->native_thread_id = (unsigned long)now;
            }
        }
    }
}

/* A thread that a signal has called has a place of its own as well, to which it will come back. */
static void renumber_places(pid_t before, pid_t now)
{
    for (int i = 0; i < atomic_load(&used); i++) {
        if (places[i].tid == before && atomic_load(&places[i].state) == AT_LARGE) {
            places[i].tid = -now; /* until all are done: numbers of before may be given again */
        }
    }
}

/* Nobody is held any more, from here on and not from when each thread first runs: who copies the
 * process before that must not take one for held that is about to go on. */
static void settle_places(pid_t self)
{
    for (int i = 0; i < atomic_load(&used); i++) {
        if (places[i].tid < 0) {
            atomic_store(&places[i].state, AT_LARGE);
        }
        places[i].tid = places[i].tid < 0 ? -places[i].tid : 0;
    }
    if (my_place != NULL) {
        my_place->tid = self;
    }
}

/* Makes the other threads of a frozen process again; false if that cannot be done. */
bool fork_thaw(void)
{
    long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    pid_t self = (pid_t)syscall(SYS_gettid);
    int32_t left;
    atomic_store(&missing, 0);
    atomic_store(&may_go, 0);
    renumber(copied_by, self);
    if (gate.active) {
        compat_renumber_loops(gate.pid, getpid());
    }
    gate.pid = getpid();
    for (int i = 0; i < atomic_load(&used); i++) {
        Place *place = &places[i];
        if (place->tid > 0 && atomic_load(&place->state) == HELD) {
            atomic_fetch_add(&missing, 1);
            long tid = remake(flags, place, place->tid_address, place->tid_address, place->storage);
            if (tid < 0) {
                return false;
            }
            renumber(place->tid, (pid_t)tid);
            renumber_places(place->tid, (pid_t)tid);
            place->tid = -(pid_t)tid;
        }
    }
    while ((left = atomic_load(&missing)) > 0) {
        sleep_until_changed(&missing, left, -1);
    }
    settle_places(self);
    atomic_store(&may_go, 1);
    wake_all(&may_go);
    unblock_signals(blocked_before);
    return true;
}

/* ---- whether it works here ---- */

static _Atomic int32_t trial_word, trial_answer;
static __thread int32_t trial_storage;

static void *trial_thread(void *given)
{
    int error;
    trial_storage = *(int32_t *)given;
    while (atomic_load(&trial_word) == 0) {
        fork_park(&trial_word, NULL, &error);
    }
    atomic_store(&trial_answer, trial_storage);
    wake_all(&trial_answer);
    return NULL;
}

static int await_trial(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum { MOST_TRIALS = 40, TRIAL_LIMIT_S = 20 };
enum Trial { TRIAL_WELL = 7, TRIAL_NO_THREAD, TRIAL_NOT_HELD, TRIAL_NO_COPY, TRIAL_OTHER };

/* In a process of its own: a thread waits, is copied, and must go on in the copy, twice. */
static int try_copies(void)
{
    pthread_t thread;
    int32_t given = 4711;
    if (pthread_create(&thread, NULL, trial_thread, &given) != 0) {
        return TRIAL_NO_THREAD;
    }
    pid_t copy = fork_all(false, false);
    for (int i = 0; copy == -EAGAIN && i < MOST_TRIALS; i++) {
        copy = fork_all(false, false); /* on a busy machine it takes a while to get there */
    }
    if (copy < 0) {
        return copy == -EAGAIN ? TRIAL_NOT_HELD : TRIAL_NO_COPY;
    }
    if (copy == 0) {
        pid_t second = clone_alone(false);
        if (!fork_thaw()) {
            _exit(TRIAL_NO_COPY);
        }
        atomic_store(&trial_word, 1);
        syscall(SYS_futex, &trial_word, FUTEX_WAKE_PRIVATE, 1);
        while (atomic_load(&trial_answer) == 0) {
            sleep_until_changed(&trial_answer, 0, -1);
        }
        bool is_well = atomic_load(&trial_answer) == given && pthread_join(thread, NULL) == 0;
        bool too = second == 0 || await_trial(second) == TRIAL_WELL;
        _exit(is_well && too ? TRIAL_WELL : TRIAL_OTHER);
    }
    return await_trial(copy);
}

/* What a C library keeps of a thread, and where, is known of this one. */
static bool is_glibc(void)
{
    char version[64] = "";
#ifdef _CS_GNU_LIBC_VERSION
    confstr(_CS_GNU_LIBC_VERSION, version, sizeof version);
#endif
    return strncmp(version, "glibc ", 6) == 0;
}

static bool has_shadow_stacks(void)
{
    char text[4096];
    proc_read((pid_t)syscall(SYS_gettid), "status", text, sizeof text);
    const char *features = strstr(text, "x86_Thread_features:\t");
    const char *end = features == NULL ? NULL : strchr(features, '\n');
    const char *found = features == NULL ? NULL : strstr(features, "shstk");
    return found != NULL && (end == NULL || found < end);
}

/* From now on threads wait where they can be copied. Returns why they cannot be; NULL if they can.
 */
const char *fork_begin(void)
{
    if (is_on) {
        return NULL;
    }
    if (!KNOWS_CPU) {
        return "threads are copied on x86-64 processors alone";
    }
    if (!is_glibc()) {
        return "the C library is not glibc";
    }
    if (access("/proc/self/task", R_OK) != 0) {
        return "/proc is not there, or may not be read";
    }
    if (has_shadow_stacks()) {
        return "the process has shadow stacks, which belong to one thread each";
    }
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    if (sigaction(signal_number(), &action, NULL) < 0) {
        return "the signal that calls threads cannot be had";
    }
    is_on = true;
    pid_t trial = clone_alone(false);
    if (trial == 0) {
        alarm(TRIAL_LIMIT_S);
        _exit(try_copies());
    }
    int how = trial < 0 ? TRIAL_NO_COPY : await_trial(trial);
    is_on = how == TRIAL_WELL;
    switch (how) {
    case TRIAL_WELL: return NULL;
    case TRIAL_NO_THREAD: return "no thread could be started to try it";
    case TRIAL_NOT_HELD: return "a thread could not be held where it waits";
    case TRIAL_NO_COPY: return "the system does not let the process copy itself";
    default: return "a copy of a thread did not go on as the thread would have";
    }
}
