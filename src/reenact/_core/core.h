/* The core's shared vocabulary: threads, objects, sites, the schedule and the log.
 *
 * Who calls what: tick.c, locks.c, queues.c, threads.c, calls.c and clock.c turn something the
 * program does into an operation and pass it through gate.c; gate.c decides who runs (record)
 * or obeys (replay.c); log.c keeps what happened. No policy, no file names, no messages here:
 * those belong to Python.
 *
 * Invariant: at most one controlled thread holds the baton; every other controlled thread is
 * parked in the gate, outside in a blocking call, or gone. State below is touched by the
 * holder (with the GIL, if there is one), or under gate.mutex by threads that come back without
 * it. */
#ifndef REENACT_CORE_H
#define REENACT_CORE_H

#include "compat.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Operation kinds; their names are exported to Python in this order. */
#define OPERATIONS(X)                                                                              \
    X(NONE, "none")                                                                                \
    X(START, "start")                                                                              \
    X(BEGIN, "begin")                                                                              \
    X(END, "end")                                                                                  \
    X(JOIN, "join")                                                                                \
    X(JOIN_TIMEOUT, "join timeout")                                                                \
    X(ACQUIRE, "acquire")                                                                          \
    X(ACQUIRE_FAILED, "acquire failed")                                                            \
    X(ACQUIRE_TIMEOUT, "acquire timeout")                                                          \
    X(RELEASE, "release")                                                                          \
    X(LOCKED, "locked")                                                                            \
    X(PUT, "put")                                                                                  \
    X(GET, "get")                                                                                  \
    X(GET_EMPTY, "get empty")                                                                      \
    X(GET_TIMEOUT, "get timeout")                                                                  \
    X(SLEEP, "sleep")                                                                              \
    X(CALL, "call")                                                                                \
    X(YIELD, "yield")                                                                              \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(CHOICE, "choice")                                                                            \
    X(COLLECT, "collect")                                                                          \
    X(TEXT, "write text")
#define OBJECTS(X)                                                                                 \
    X(NOTHING, "none")                                                                             \
    X(THREAD, "thread")                                                                            \
    X(LOCK, "lock")                                                                                \
    X(RLOCK, "rlock")                                                                              \
    X(QUEUE, "queue")                                                                              \
    X(QUIET, "quiet")                                                                              \
    X(LOOP, "event loop")                                                                          \
    X(FILE, "text file")

#define AS_OPERATION(name, text) OP_##name,
enum Operation { OPERATIONS(AS_OPERATION) OP_COUNT };
#define AS_OBJECT(name, text) OBJECT_##name,
enum ObjectKind { OBJECTS(AS_OBJECT) OBJECT_COUNT };

enum EntryKind {
    ENTRY_PREEMPT,
    ENTRY_YIELD,
    ENTRY_STEAL,
    ENTRY_COLLECT,
    ENTRY_SIGNAL,
    ENTRY_END,
    ENTRY_INTERRUPT,
    ENTRY_BETWEEN
};
enum EndKind { ENDED_NORMALLY, ENDED_IN_DEADLOCK };
enum RunEnd { RUN_GOES_ON, RUN_CLOSED, RUN_DEADLOCKED, RUN_DIVERGED };
enum Status { FREE, READY, RUNNING, WAITING, OUTSIDE, ENDED };
enum Mode { MODE_OFF, MODE_RECORD, MODE_REPLAY };
/* Converted: what the parallel engine recorded, put in one order for the serial one. */
enum Engine { ENGINE_SERIAL, ENGINE_PARALLEL, ENGINE_CONVERTED };
enum Order { ORDER_SYNC, ORDER_DITTO, ORDER_LIGHT, ORDER_COLD /* sync, and accesses: cold.c */ };
enum StrategyKind { STRATEGY_QUEUE, STRATEGY_RANDOM, STRATEGY_PYTHON, STRATEGY_SEARCH };
enum NoteKind {
    NOTE_FOREIGN = 1,
    NOTE_STOLEN,
    NOTE_FORK,
    NOTE_LOG_STOPPED,
    NOTE_SIGNAL,
    NOTE_UNLISTED,
    NOTE_NATIVE_MODULE
};

/* Exit codes of a process that the gate itself ends; documented in docs/reference. */
enum {
    EXIT_DIVERGED = 120,
    EXIT_UNUSABLE = 121,
    EXIT_DEADLOCK = 122,
    EXIT_END_OF_RECORDING = 123,
    EXIT_UNCONTROLLED = 124,
    EXIT_STEP_LIMIT = 125
};

enum { CACHE_LINE = 64 };

typedef struct Thread Thread;
typedef struct Object Object;
typedef struct AccessSite AccessSite;
typedef struct Region Region;
typedef struct Settled Settled;
typedef struct HeldLocks HeldLocks;

/* What a search knows of something that threads share, for the length of one run. */
typedef struct {
    uint64_t run;  /* the rest is of this run */
    uint64_t key;  /* given in order of first use; the same for the same choices */
    uint64_t hash; /* of all that was done to it, and by whom */
    uint64_t read_hash;
} Track;

/* A vector clock: for each slot, how far its thread is known to have come. */
typedef struct {
    uint32_t width;
    uint32_t knower; /* of one that is passed on: the thread that knows all of it; 0: nobody may */
    uint32_t at[];
} Clock;

static inline uint32_t clock_at(const Clock *clock, int32_t slot)
{
    return clock == NULL || (uint32_t)slot >= clock->width ? 0 : clock->at[slot];
}

typedef struct {
    int fd;              /* of a lane: the thread that it is of */
    unsigned char *base; /* of the map; payload starts at STREAM_HEADER */
    unsigned char *at, *end;
    size_t mapped;
    bool is_lane; /* its bytes lie in chunks of the stream of lanes, base is the present one */
} Stream;

typedef struct {
    const void *instruction;
    uint32_t kind, site;
} RecentSite;
enum { RECENT_SITES = 256 };

#define LANE_TAGS(X)                                                                               \
    X(OPERATION, "operation") /* site, object */                                                   \
    X(AFTER, "after")         /* thread, position since the one known */                           \
    X(GONE, "gone")           /* thread: the next entry comes after its end */                     \
    X(WAIT, "wait")           /* site, object */                                                   \
    X(YIELD, "yield")                                                                              \
    X(INPUT, "input") /* as in the stream of inputs */                                             \
    X(CLOCK, "clock") /* clock, nanoseconds since the last value of it */                          \
    X(OTHER, "other") /* kind, argument */
#define AS_TAG(name, text) LANE_##name,
enum LaneTag { LANE_TAGS(AS_TAG) LANE_TAG_COUNT };
typedef struct {
    bool exists;
    enum LaneTag tag;
    int64_t position;
    uint64_t first, second;
} LaneEntry;

/* Something that a thread did, by where it was then. */
typedef struct {
    int32_t thread; /* -1: nobody has done it */
    int64_t position;
} Deed;

/* An instruction, by the number of its code and its offset; of code 0: none. */
typedef struct {
    uint64_t code, offset;
} Halt;

/* Accesses of one thread to one location, from the first to the last: flow.c. */
typedef struct {
    uint32_t location; /* 0: none */
    int32_t thread;
    bool has_source;     /* begins with a read */
    Deed source;         /* of that write; of thread -1: there was none yet */
    Deed seen;           /* the write that its latest access saw, or made */
    int64_t first, last; /* positions */
    int64_t write;       /* of the last one; -1: it has none */
    uint64_t hint;
} Interval;

/* Whose a location is, where threads really run at the same time: turns.c. */
typedef struct {
    _Atomic int32_t owner; /* thread + 1; 0 nobody, -1 all that read; or with CONTENDED */
    bool is_written;       /* by its owner, since it has it */
    bool was_shared;       /* by readers, before its owner had it; for others to take back */
    uint8_t conflicts;     /* how often it was taken from another */
    /* while it is contended: who had it last, how often in a row, and reads since a write */
    uint8_t reads;
    int32_t last;
    uint32_t repeats;
    int64_t done;   /* likewise: what that one had done when it gave it back, as a position */
    bool is_unsaid; /* others have read it and said nothing: turns_share */
} Turn;

/* An access that a site is about to make. */
typedef struct {
    Turn *turn; /* at which its location begins */
    uint64_t key;
    bool writes, is_update, needs_all; /* the last: none may read it meanwhile */
    bool is_container;                 /* C code may call the program back, and go on with it */
} Wanted;
enum { MOST_WANTED = 16, MOST_PENDING = 8, MOST_LOCKED = 4096 };

/* An access that calls the program back is under way until its frame has gone on. */
typedef struct {
    Wanted wanted;
    const void *frame;
    const _Py_CODEUNIT *site;
    int room; /* compat_room_for_calls */
} Pending;

enum { MOST_TAKEN = 4, MOST_LET_BY = 8 };

/* What one thread of a parallel run did, or is to do again: lanes.c, obey.c. */
typedef struct {
    Stream stream;
    int64_t last;       /* position of the latest entry */
    int64_t clocks[16]; /* the latest readings */
    int64_t *known;     /* by thread: up to where its doings are known to come before */
    int64_t *named;     /* by thread: the position of it that was named last as a source */
    uint32_t known_room, named_room;
    uint64_t hint;             /* the latest one told */
    Object *taken[MOST_TAKEN]; /* the locks that it took last, in turn: flow.c */
    uint32_t taken_count;
    Interval *open; /* under way: flow.c */
    RecentSite *recent;
    _Atomic int32_t presence, asked; /* turns.c */
    Wanted wanted[MOST_WANTED];      /* by the site that is being passed */
    Turn **locked;                   /* contended locations that it has */
    uint32_t locked_count;
    const Turn *locked_last; /* the latest, and how often in a row */
    uint32_t streak;
    uint32_t near_writes;   /* to contended locations, each soon after an access to another */
    int64_t last_contended; /* position of the latest such access */
    int64_t lease_end;      /* position up to which it keeps them; 0: to its next point */
    _Atomic bool hurried;   /* somebody has waited for one of them long enough */
    bool is_late;           /* has not come when it was to stay where it is */
    bool gives_way;         /* to somebody else who waits for the floor */
    bool holds_others;      /* while it collects garbage */
    bool knows;             /* some of its code, where accesses are noted in cold code alone */
    bool holds_rest;        /* those that do, until its next point after this one: */
    int64_t held_at, held_since_ns;
    int32_t held_by; /* thread + 1, and until when at most; by whom it was let go since */
    int64_t held_until_ns;
    Deed let_by[MOST_LET_BY];
    uint32_t let_by_count;
    PyObject *without_dict;        /* of which the site that is being passed was told so */
    bool is_called_back;           /* by what it accesses: ticks are in the middle of that */
    Pending pending[MOST_PENDING]; /* the outermost first */
    uint32_t wanted_count, pending_count;
    uint64_t operations;
    bool waits;      /* that the operation under way waits was told */
    bool is_held_up; /* the operation under way waits for an object that another holds */
    bool is_leaving; /* has told its end: it may move without the GIL */
    /* of a replay */
    uint32_t number; /* that its thread had */
    LaneEntry next;  /* if it is known */
    bool is_known;
} Lane;

/* Something threads wait for. Found by the address of its Python object. What the parallel engine
 * touches at each operation lies in one line of the cache, which its threads pass round. */
struct Object {
    PyObject *key;
    Deed latest;   /* of its operations; of those that it is waited with for the end of a thread,
                      the ones that came before that */
    uint32_t id;   /* given at its first operation, 0 before */
    int32_t owner; /* index of the thread that acquired it last, -1 if free */
    int32_t ends;  /* index of the thread whose end releases it, -1 if none's does */
    uint8_t kind;
    bool all_woken;
    _Atomic int32_t held; /* parallel engine: by whoever does something to it right now */
    _Atomic int32_t turn; /* likewise, a futex: changes when a wait may be over */
    int32_t parked;       /* likewise: how many wait */
    int32_t woken;        /* likewise: how many of these a release has woken, at most */
    int32_t taker;        /* likewise: who acquired it last */
    bool is_signal;       /* likewise: somebody has released it who had not acquired it */
    /* the rest is of the other engines */
    Object *next_free;
    uint64_t serial; /* given when it is first met in any way */
    int64_t items;   /* queue: how many are in it */
    Thread *first_waiter, *last_waiter;
    Clock *clock;     /* what happened before it was last released; NULL if nothing did */
    Track track;      /* while exploring */
    uint32_t watched; /* its number among the locks that are watched, 0 if it is none */
    int32_t waker;    /* index of the thread that has ended the latest wait for it, -1 if unknown */
} __attribute__((aligned(CACHE_LINE)));

/* What a search knows of a thread. */
typedef struct {
    Track *pending; /* what it is about to touch, NULL if nothing that others could */
    Object *blocks; /* its pending operation waits for this without a deadline */
    uint64_t joined;
    uint64_t identity; /* of its place in the tree of starts */
    uint64_t hash;
    uint64_t priority;
    uint32_t position; /* operations and accesses that it has come to */
    uint32_t raised, ticks;
    uint32_t consecutive; /* steps that it has made while others could */
    uint32_t site;        /* of its pending operation; 0 until it is asked for */
    bool pending_writes, pending_waits, is_access, is_choice, has_priority, asleep, is_patient,
        is_spared, is_slow, is_abroad,
        is_slice_end; /* slow: patient, however soon its deadline is */
} Explored;

/* A controlled thread. The slots lie in a shared file map, so that budgets and pending
 * operations survive the death of the process; offsets 0 to 39 are part of the format. */
struct Thread {
    int64_t budget; /* points until the next decision */
    int32_t index, parent, ordinal;
    _Atomic int32_t status;
    uint32_t pending_site;
    uint32_t pending_object;
    int64_t limit; /* parallel engine: its position as the budget ends */
    /* not part of the format from here on */
    _Atomic int32_t baton; /* futex: 1 once the baton is handed over */
    int32_t children;
    uint8_t pending_op;
    bool queued;  /* in the run queue */
    bool expired; /* its deadline has passed: enabled whatever it waits for */
    bool timed;   /* counted in gate.timed */
    bool daemon;
    bool away;           /* in an outside call, or robbed of the baton: must rejoin */
    bool interrupted;    /* a signal's handler raised inside the call it is in */
    bool has_deaths;     /* that were put off while it is quiet */
    bool is_left;        /* the call that it was in when the process was copied was left */
    bool collects;       /* garbage, and calls what is called back for that */
    bool dies;           /* comes to a point for nothing but deaths: replay.c */
    int32_t inside;      /* depth of native calls of the table that it is in */
    int32_t deferring;   /* depth of operations that must not be interrupted by a handler */
    uint32_t references; /* weak ones that it has made: deaths.c */
    uint64_t signals;    /* signals whose handlers this (main) thread must run */
    int64_t deadline_ns;
    Thread *run_next, *run_prev;
    Object *waits_for;
    Thread *wait_next, *wait_prev;
    Object done; /* what joiners wait for */
    void *handle;
    PyObject *sentinel;
    PyThreadState *tstate;
    pid_t tid;
    int *tid_address;
    _Atomic bool has_begun; /* its OS thread waits for its first turn */
    bool *let_go;           /* a flag of its OS thread's: the slot is no longer its own */
    Object *pending;        /* what the pending operation is on */
    Clock *clock;           /* what it knows to have happened */
    int32_t slot;           /* its own place in every clock */
    uint32_t knower;        /* its number among all that have had clocks */
    uint64_t epoch;         /* its slot, and its own place in its own clock */
    uint32_t era;           /* since it last gave others a chance to know what it has: shadow.c */
    uint32_t read_all;   /* in place of an era, of a list: that each item was read was told in this
                            epoch; NO_ERA if there is none such yet */
    uint32_t read_atoms; /* the same, and all are numbers, texts or the like */
    const AccessSite *region; /* the guard of the loop that it is in without sites: regions.c */
    void *region_frame;       /* in which */
    Lane lane;
    uint16_t *passes; /* by guard: how often it has passed it: cold.c */
    uint32_t passes_room, passes_in_all;
    uint64_t identity;  /* of its place in the tree of starts */
    uint32_t met;       /* objects that it was the first to meet */
    HeldLocks *holding; /* the locks that it has, while they are watched; NULL if it had none yet */
    uint32_t life;      /* starts and joins up to the latest that it had a part in */
    Explored explored;
} __attribute__((aligned(CACHE_LINE))); /* each counts for itself, at the same time */

/* A place in the program that does one kind of operation. */
typedef struct {
    PyCodeObject *code;
    const _Py_CODEUNIT *instruction;
    uint32_t file, function; /* string numbers */
    uint32_t line;
    uint32_t kind;
} Site;

enum StreamNumber {
    STREAM_SCHEDULE = 1,
    STREAM_OPERATIONS,
    STREAM_DEFINITIONS,
    STREAM_CLOCK,
    STREAM_OUTPUT,
    STREAM_NOTES,
    STREAM_OUTCOME,
    STREAM_INPUTS,
    STREAM_FILES,
    STREAM_LANES,
    STREAM_COUNT
};
enum { STREAM_HEADER = 64, STATE_HEADER = 4096 };

/* Where memory of ours is mapped, far from the program's. */
#define MAPS_FROM 0x200000000000ULL
#define MAPS_TO 0x400000000000ULL

/* First page of the state file; see docs/format.md. */
typedef struct {
    char magic[8];
    uint32_t version, slot_size;
    int64_t step_end; /* step at which the holder's budget will be used up */
    int32_t holder;
    uint32_t threads;
    uint32_t ended;
    int32_t log_errno;
    uint64_t switches, operations, collections;
    uint64_t moved; /* replay: the first object found at another address than recorded */
} State;

typedef struct {
    enum Mode mode;
    enum StrategyKind strategy;
    uint64_t seed;
    int64_t slice;     /* queue: points in a time slice, 0: a turn goes by time; random: mean points
                          between choices */
    int64_t last_step; /* replay: where the recording ends; -1 unknown */
    bool is_cut;       /* replay: the log was not closed, so what comes after it is no error */
    PyObject *chooser; /* python strategy */
    enum Engine engine;
    enum Order order;
} Settings;

typedef struct {
    Settings settings;
    bool active;      /* operations of controlled threads pass the gate */
    bool is_parallel; /* nobody holds the baton: threads run as they like */
    bool has_lanes;   /* this run is in lanes, or was: some points more, see parallel.c */
    bool choose_at_operations;
    State *state;
    Thread *slots;
    Thread *holder;
    Thread *run_first, *run_last;
    uint32_t outside, timed, foreign;
    uint64_t handled;          /* a bit for each signal that the program has a handler for */
    uint32_t bystanders;       /* threads that were there before the gate was opened for a search */
    uint32_t watching, abroad; /* waits of event loops; those that somebody outside may end */
    int64_t slice_left, slice_step;
    int64_t turn_began_ns; /* 0: nobody has looked at the clock since */
    int64_t stop_step;     /* replay: where it stops next; -1 nowhere */
    uint64_t random;
    pid_t pid;
    pid_t leaving_tid; /* an ended thread whose OS thread may not be gone yet */
    int *leaving_address;
    _Atomic uint64_t signals_pending;
    pthread_mutex_t mutex;
    bool exploring;  /* a run of a search is under way */
    bool is_virtual; /* its time is not the system's */
    int64_t idle_since_ns;
} Gate;

extern Gate gate;
extern __thread Thread *me;    /* NULL in threads that are not controlled */
extern __thread int32_t quiet; /* depth of our own Python code, in which me is NULL */
extern Stream streams[STREAM_COUNT];

/* log.c */
int log_open(int directory_fd, enum Mode mode);
bool log_is_on(void);
extern bool operations_are_kept; /* they are logged, or compared with the log */
enum { FIRST_OF_OURS = 4032 };   /* descriptors from here on are ours, if there are so many */
int move_high(int fd);
void log_stop(int error);
void stream_bytes(Stream *stream, const void *bytes, size_t size);
void stream_varint(Stream *stream, uint64_t value);
void stream_zigzag(Stream *stream, int64_t value);
void log_entry(enum EntryKind kind, uint64_t argument);
void log_operation(uint32_t site, int32_t thread, uint32_t object, int64_t step);
void log_note(enum NoteKind kind, uint64_t value, int32_t thread);
void log_note_text(enum NoteKind kind, uint64_t value, int32_t thread, const char *text);
void log_output(int fd, const void *bytes, size_t size);
int state_open(int directory_fd);
int state_open_anonymously(void);
void state_forget_slots(uint32_t first);
Thread *state_new_slot(void);

enum { LONGEST_VARINT = 10 };

static inline unsigned char *put_varint(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

typedef struct {
    const unsigned char *at, *end;
    bool broken;
} Cursor;
extern Cursor cursors[STREAM_COUNT];
int replay_map(int directory_fd);
uint64_t cursor_varint(Cursor *cursor);
int64_t cursor_zigzag(Cursor *cursor);

/* sites.c */
uint32_t site_here(enum Operation kind);
const Site *site_get(uint32_t number);
const char *site_string(uint32_t number);
uint32_t site_intern_string(const char *text, Py_ssize_t size);
void site_define_module(const char *name);
void site_define_call(uint32_t number, const char *name, bool opens);
void site_note_source(const char *path, const char *digest);
int sites_load_recorded(void);
bool site_agrees(uint32_t number);
uint32_t site_recorded_kind(uint32_t number);
uint32_t site_recorded_count(void);
bool site_is(uint32_t number, uint32_t recorded_number);
void define_object(Object *object, uint32_t site);
void define_thread(Thread *thread);

/* objects.c */
Object *object_of(PyObject *key, enum ObjectKind kind);
Object *object_find(PyObject *key);
void object_forget(PyObject *key);
void objects_unwatch(void);
void objects_begin(void);

/* gate.c */
enum Waited { WAIT_FAILED = -1, WAIT_RESUMED, WAIT_INTERRUPTED };
int gate_slow(Thread *thread);
int64_t gate_step(void);
enum Waited gate_wait(Thread *thread, enum Operation kind, Object *object, int64_t deadline_ns);
void gate_wake(Object *object);
void gate_done(enum Operation kind, Object *object);
void gate_drop(Thread *thread);
void gate_rejoin(Thread *thread);
void gate_take_turn(Thread *thread);
void gate_enroll(Thread *thread);
void gate_withdraw(Thread *thread);
void gate_adopt_main(Thread *thread);
void gate_thread_gone(Thread *thread, Object *sentinel);
void gate_preempt(Thread *thread, Thread *next);
void gate_preempt_locked(Thread *thread, Thread *next);
void gate_resume(void);
void gate_explore(bool on);
void gate_steal(Thread *thread, Thread *next);
bool gate_rescue(Thread *thread);
void gate_take_interrupts(void);
void gate_look_soon(Thread *thread);
void gate_foreign(void);
void gate_know_bystanders(void);
void gate_close(bool let_go);
int64_t now_ns(void);
int64_t real_ns(void);

/* What an object with weak references comes to: its thread finds it dead, in a collection or not,
 * or a call of a reference does; a callback or its finalizer is called. In schedules alone: from
 * here on it may die. Whom it happens to is told by the number of a reference: who made it, and how
 * many before it. */
enum Death { DEATH_DIED, DEATH_SWEPT, DEATH_FOUND, DEATH_CALLED, DEATH_FINALIZED, DEATH_RELEASED };
enum { REFERENCE_THREAD_BITS = 20, GENERATIONS = 3 };

/* lanes.c */
/* From LANE_FLOW on, intervals: with any of the bits after it. */
enum LaneOther {
    LANE_COLLECT,
    LANE_SIGNAL,
    LANE_CLOSE,
    LANE_FINAL,
    LANE_END,
    LANE_FLOW,
    LANE_HINT = LANE_FLOW + 8,
    LANE_SWEEP,
    LANE_DEATH
};
enum LaneFlow { FLOW_HAS_SOURCE = 1, FLOW_WRITES = 2, FLOW_OF_OTHER = 4 };
int lane_grow(Stream *stream, size_t size);
void lane_open(Thread *thread);
void lanes_forget(void);
void lane_operation(Thread *thread, uint32_t site, const Object *object);
void lane_after(Thread *thread, Deed moment);
void lane_gone(Thread *thread, int32_t other);
void lane_wait(Thread *thread, uint32_t site, const Object *object);
void lane_yield(Thread *thread);
/* Clocks that the program does not read: when it was; and those that are none, how many references,
 * and what addresses, the program is told of */
enum { VERDICTS = 12, TIMES = 13, REFERENCE_COUNTS = 14, ADDRESSES = 15 };
void lane_clock(Thread *thread, uint64_t clock, int64_t value);
void lane_other(Thread *thread, enum LaneOther kind, uint64_t argument);
void lane_final(Thread *thread, const Thread *other);
void lane_death(Thread *thread, enum Death death, uint64_t number);
int64_t *lane_known(Lane *lane, int32_t other);
void lane_flow(Thread *thread, const Interval *interval);
void lane_hint(Thread *thread, Deed moment, Halt place);
void lane_closes(Thread *thread);
Stream *inputs_begin(void);
Cursor *inputs_cursor(void);
Stream *inputs_stream(void);

static inline int64_t thread_position(const Thread *thread)
{
    return thread->limit - thread->budget;
}

/* obey.c */
int obey_begin(void);
void obey_adopt(Thread *thread);
int obey_point(Thread *thread);
void obey_operation(Thread *thread, uint32_t site);
void obey_yield(Thread *thread);
Cursor *obey_input(Thread *thread);
Cursor *obey_cursor(Thread *thread);
int64_t obey_clock(Thread *thread, uint64_t clock);
bool obey_wait(Thread *thread);
void obey_gone(Thread *thread);

/* shifts.c */
extern Thread *at_work;
void shifts_forget(void);
void shifts_change(Thread *thread);

/* A thread has come to a point, or goes on after a wait. */
static inline void shifts_take(Thread *thread)
{
    if (HAS_GIL && __builtin_expect(thread != at_work, 0)) {
        shifts_change(thread);
    }
}

/* places.c */
Halt place_left(const Thread *thread);
bool place_is_sought(const Thread *thread);
void place_seek(Thread *thread, Halt place, uint64_t left);
void place_give_up(void);
int place_event(PyFrameObject *frame, int what);

/* order.c, turns.c */
int order_begin(void);

static inline void turns_want(Thread *thread, Wanted wanted)
{
    Lane *lane = &thread->lane;
    if (lane->wanted_count < MOST_WANTED) {
        lane->wanted[lane->wanted_count++] = wanted;
    }
}

void turns_settle(Thread *thread);
bool turns_settle_if(Thread *thread, bool (*is_right)(void *), void *given);
bool turns_settle_at_once(Thread *thread);
void turns_leave(Thread *thread);
void turns_arrive(Thread *thread);
void turns_consent_slowly(Thread *thread);
void turns_halt(Thread *thread);
bool turns_are_used(void);
void turns_stop(Thread *thread);
void turns_go_on(Thread *thread);
void turns_stop_no_more(Thread *thread);
void turns_release(void);
bool turns_is_halted(const Thread *thread);
void turns_go_on_accessing(Thread *thread);
void turns_forget(void);
void turns_share(Turn *turn);
void presence_say_after(Thread *thread);
void knowing_note(Thread *thread, bool knows);
void knowing_let_go_on(Thread *thread);

static inline bool turns_are_asked(const Thread *thread)
{
    return atomic_load_explicit(&thread->lane.asked, memory_order_relaxed) != 0;
}

/* Where nothing is under way that another thread must not see half done. */
static inline void turns_consent(Thread *thread)
{
    const Lane *lane = &thread->lane;
    if (!HAS_GIL && __builtin_expect(turns_are_asked(thread) || lane->locked_count != 0, 0)) {
        turns_consent_slowly(thread);
    }
}

void order_forget(void);
void flow_forget(void);
void order_note(Thread *thread, const Wanted *wanted, bool is_alone);
void order_access(Thread *thread, const PyObject *object, const PyObject *name, bool writes);

/* baseline.c */
extern bool baseline_is_on;
void baseline_open(void);
void baseline_access(Thread *thread, PyObject *object, PyObject *name, bool writes);
void baseline_done(Thread *thread, enum Operation kind, const Object *object);
void baseline_leave(const Thread *thread);
void baseline_close(void);

/* lanesites.c */
int lane_sites_begin(void);
int lane_site_pass(AccessSite *site, PyObject *operand);
void lane_site_tell(AccessSite *site, PyObject *object, PyObject *name, bool is_write);

/* An object and a name of its, or all of a container, by address; the first bits are the best. */
static inline uint64_t location_key(const PyObject *object, const PyObject *name)
{
    uint64_t mixed = ((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15ULL;
    return (mixed ^ ((uintptr_t)name >> 3)) * 0xD6E8FEB86659FD93ULL;
}

Turn *order_turn(const PyObject *object, const PyObject *name);

/* flow.c */
Turn *flow_turn(const PyObject *object, const PyObject *name);
int flow_begin(void);
void flow_access(Thread *thread, const PyObject *object, const PyObject *name, bool writes,
                 bool is_update);
void flow_note(Thread *thread, const Wanted *wanted, bool is_alone);
void flow_end(Thread *thread, const Thread *of);
void flow_done(Thread *thread, enum Operation kind, Object *object);

/* An access that the thread is about to make, for the order that is kept. */
static inline void access_in_order(Thread *thread, const PyObject *object, const PyObject *name,
                                   bool writes, bool is_update)
{
    if (gate.settings.order == ORDER_LIGHT) {
        flow_access(thread, object, name, writes, is_update);
    }
    else {
        order_access(thread, object, name, writes);
    }
}

/* classes.c */
enum { CLASS_NAMES = 1024 };
extern _Atomic uint8_t class_names[CLASS_NAMES], open_classes[CLASS_NAMES];
void classes_tell_slowly(Thread *thread, const PyObject *name, bool writes);
void classes_open(Thread *thread, const PyTypeObject *type);
void classes_tell_dict(Thread *thread, PyObject *object, bool writes);
bool classes_are_as_told(void *object);
bool classes_make_dict(PyObject *object, const PyObject *name);
extern PyObject *classes_dict_name;

static inline _Atomic uint8_t *class_name(const PyObject *name)
{
    return &class_names[((uintptr_t)name >> 4) % CLASS_NAMES];
}

static inline _Atomic uint8_t *open_class(const PyTypeObject *type)
{
    return &open_classes[((uintptr_t)type >> 4) % CLASS_NAMES];
}

/* What an attribute of an object is may be said by its class, or through its dictionary. */
static inline void classes_tell(Thread *thread, PyObject *object, const PyObject *name,
                                bool is_write)
{
    bool writes = is_write && PyType_Check(object);
    bool is_known = atomic_load_explicit(class_name(name), memory_order_relaxed);
    if (__builtin_expect(writes || is_known, 0)) {
        classes_tell_slowly(thread, name, writes);
    }
    if (__builtin_expect(atomic_load_explicit(open_class(Py_TYPE(object)), memory_order_relaxed),
                         0)) {
        classes_tell_dict(thread, object, is_write);
    }
}

/* parallel.c: the gate of the parallel engine */
void parallel_adopt(Thread *thread);
int parallel_point(Thread *thread);
void parallel_look_within(Thread *thread, int64_t points);
bool parallel_look_again(Thread *thread, Object *object, int time);
enum Waited parallel_wait(Thread *thread, enum Operation kind, Object *object, int64_t deadline_ns);
void parallel_wake(Object *object);
void parallel_let_go(Object *object);
void parallel_done(enum Operation kind, Object *object);
void parallel_drop(Thread *thread);
void parallel_rejoin(Thread *thread);
void parallel_thread_gone(Thread *thread, Object *sentinel);
void parallel_close(void);
void parallel_look_for_deadlock(void);
void parallel_hold(Object *object);
enum { GIVE_WAY = 200 }; /* turns after which a thread gives way to others */
void parallel_pause(int turn);
bool parallel_sleep(_Atomic int32_t *word, int32_t seen, int64_t time_ns);
void parallel_wake_one(_Atomic int32_t *word);

/* floor.c */
bool floor_is_had(const Thread *thread);
void floor_take(Thread *thread);
void floor_give(Thread *thread);
void floor_forget(void);

/* exits.c: the order in which threads are gone */
void exits_begin(Thread *thread);
void exits_end(const Thread *thread);
void exits_stop(Thread *thread);
void exits_go_on(const Thread *thread);
void exits_forget(void);
void parallel_extra_point(Thread *thread);
void parallel_joined(Thread *thread, const Thread *other);

/* Between these two nobody else does anything to the object. A wait in between lets go of it. */
static inline void object_hold(Object *object)
{
    if (__builtin_expect(gate.is_parallel, 0) && atomic_exchange(&object->held, 1) != 0) {
        parallel_hold(object);
    }
}

static inline void object_let_go(Object *object)
{
    if (__builtin_expect(gate.is_parallel, 0)) {
        atomic_store_explicit(&object->held, 0, memory_order_release);
    }
}

/* runqueue.c */
void queue_push(Thread *thread);
void queue_remove(Thread *thread);
size_t queue_sift(void);
Thread *queue_first(void);
Thread *queue_nth(uint64_t n);
void waiters_add(Object *object, Thread *thread);
void waiters_remove(Thread *thread);

/* explore.c: runs of a search; search.c: who runs next in them; variables.c: what is shared */
enum RunReason { RUN_COMPLETE, RUN_IN_DEADLOCK, RUN_OVER_LIMIT, RUN_REDUNDANT, RUN_STALE };
enum { MOST_STEPS = 1 << 18, MOST_RACY = 1 << 14, MOST_READERS = 64 };
typedef struct {
    int32_t thread;
    uint16_t op;
    bool writes, is_forced, waits; /* forced: the thread before could not go on; waits: for ever */
    uint64_t key, enabled;
    uint32_t site, position;
    int32_t previous, count; /* the thread that ran before, and how many could run now */
    uint64_t asleep, joined; /* threads that slept; that this one has joined since its last step */
    int32_t parent;          /* of the thread */
} Step;

/* What a run leaves, in memory that forked processes share. */
typedef struct {
    uint32_t reason, threads, is_uncontrolled, timed_waits;
    uint64_t steps, choices, fingerprint, preemptions;
    uint64_t useful;   /* steps until the plan was of no more use, if finished */
    uint32_t finished; /* the run went on to its end without a plan */
    char note[512];
    uint32_t ends_matter; /* somebody asks whether a thread has ended: found as a racing site is */
    uint32_t racy_count;  /* sites that race, of all runs so far */
    uint64_t racy[MOST_RACY];       /* their keys, a hash table */
    uint32_t racy_order[MOST_RACY]; /* in which they were found */
    Step trace[MOST_STEPS];
} Run;
enum SwitchKind { SWITCH_PREEMPTS, SWITCH_FORCED, SWITCH_AMONG, SWITCH_COLLECTS };
typedef struct {
    int32_t thread;
    uint32_t position;
    int32_t to;
    int32_t kind; /* forced: the thread cannot go on; among: no thread but a task, by position */
} Switch;
enum SearchKind { SEARCH_FIRST, SEARCH_RANDOM, SEARCH_PCT, SEARCH_POS, SEARCH_DELAY };
enum { MOST_CHANGES = 64 };
typedef struct {
    enum SearchKind kind;
    uint64_t random, number;
    uint64_t drawn; /* by the program */
    int64_t limit, patience_ns, clock_ns, stall_ns;
    uint64_t keys, born; /* given out in this run: to what is shared, to tasks */
    uint64_t changes[MOST_CHANGES];
    uint32_t change_count, changes_done, lowered;
    const int32_t *prefix;
    size_t prefix_size;
    const Switch *switches;
    size_t switch_count, switch_at;
    uint64_t asleep;              /* threads that sleep once the prefix is done */
    uint64_t settle_until, turns; /* turns: of event loops that were alone */
    uint32_t racy_limit;          /* sites found later do not count in this run */
    int32_t first_thread, root;   /* of the run; and the thread that began it */
    uint64_t handled;             /* signals that had handlers before the run */
    int64_t alarm_ns;             /* when a timer strikes that was set before it */
    bool at_ticks, at_accesses, follows, expects, aborting, has_told, is_settling, has_collected;
    uint64_t aborted_points;
    PyObject *hook;
} Search;
void search_observe(Thread *thread, bool does, PyObject *object, PyObject *name);
extern Search search;
extern bool search_finishes; /* runs whose plan is of no more use go on to their end */
extern Run *run;
Thread *search_choose(Thread *running);
void search_point(Thread *thread);
bool search_wants_collection(Thread *thread);
size_t search_among(const uint64_t *identities, size_t count);
uint64_t search_random(void);
void search_fill(char *bytes, size_t size);
void search_abort(enum RunReason reason);
void search_note_blocked(void);
int search_raise(Thread *thread, bool waits);
void search_tell(void);
void search_enroll(Thread *thread);
void search_done(enum Operation kind, Object *object);
void search_uncontrolled(const char *text);
bool search_is_machinery(void);
bool search_is_threading(void);
int64_t search_clock(int64_t clock);
void search_idle(void);
void search_look_for_stall(void);
bool search_is_dependent(const Thread *thread, uint64_t key, bool writes);
bool search_expire(Thread *thread);
bool search_pass(int64_t ns);
Track *track_of(Object *object);
void track_touch(Track *track, Thread *thread, bool writes, uint64_t what);
void variables_begin(void);
void variables_know_racy(uint64_t key);
bool is_free_for(const Object *object);
Thread *search_earliest_timer(void);
void search_free(Thread *thread);
void points_begin(void);
PyObject *view_result(void);
extern PyMethodDef explore_functions[], point_functions[], view_functions[];

/* clocks.c */
enum { MOST_SLOTS = 254 };
extern bool clocks_are_on;
extern bool clocks_overflowed;    /* there were more threads at once than slots */
extern uint32_t clocks_forgotten; /* threads that ended so long ago that nothing is known of them */
void *take_memory(size_t size);
void *memory_at(uint32_t place);
uint32_t memory_place(const void *memory);
void clock_free(Clock *clock);
void clocks_reset(void);
void clocks_begin(Thread *thread, Thread *parent);
void clocks_end(Thread *thread);
bool clocks_are_alone(const Thread *thread);
void clocks_acquire(Clock *clock);
void clocks_release(Clock **clock);
int32_t clocks_ended(enum Operation kind, const Object *object);
void clocks_done(enum Operation kind, Object *object);

/* races.c: what conflicts with what is said in docs/explanation/races.md */
#define ACCESS_MODES(X)                                                                            \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(ITEM_READ, "item read")                                                                      \
    X(ITEM_WRITE, "item write")                                                                    \
    X(ITEM_UPDATE, "item update")                                                                  \
    X(ITEM_TEST, "item test")                                                                      \
    X(ITEM_DEFAULT, "item default")                                                                \
    X(UPDATE, "update")                                                                            \
    X(PUT, "put")                                                                                  \
    X(TAKE, "take")                                                                                \
    X(WHOLE_READ, "whole read")                                                                    \
    X(WHOLE_WRITE, "whole write")
#define AS_MODE(name, text) MODE_##name,
enum AccessMode { ACCESS_MODES(AS_MODE) MODE_COUNT };
extern bool races_are_on;
extern bool races_are_idle;   /* nobody could race now: sites need not look */
extern bool sites_are_points; /* accesses count as steps, outside of a search */
extern PyObject *races_key;   /* of the item that is accessed, borrowed; NULL if nobody can tell */
bool races_have_seen(AccessSite *site, PyObject *operand);
bool races_repeat_item(AccessSite *site, PyObject *list, size_t index);
bool races_repeat(AccessSite *site, PyObject *operand);
void races_remember(AccessSite *site, PyObject *operand);
void races_remember_iterator(AccessSite *site, PyObject *iterator);
void races_access(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode);
uintptr_t races_identity(PyObject *object);
void races_ended(PyObject *object);
enum Known { UNKNOWN, KNOWN, MADE_AGAIN }; /* what others may know of an object that is made */
enum Known races_created(AccessSite *site, PyObject *object, bool is_known);
void races_changed_threads(Thread *thread);
void races_forget(const bool *are_gone);
extern PyMethodDef race_functions[], found_functions[];

/* shadow.c: of every 16 bytes, the era in which what lies there was allocated; 0: unknown */
#define ERAS ((uint32_t *)0x300000000000ULL)
#define NO_ERA UINT32_MAX
#define IN_FREE_LIST (NO_ERA - 1) /* in place of an era: there, or taken since it was looked at */
#define LEAVING (NO_ERA - 2)      /* a list or dict that dies */
uint32_t new_era(void);
void shadow_settle(void); /* before another thread runs */
void shadow_leave(void);

/* Can nobody but this thread know the object? It must be so that races are looked for. */
static inline bool is_private(const PyObject *object)
{
    const uint32_t *era = &ERAS[(uintptr_t)object >> 4];
    if (__builtin_expect(*era == IN_FREE_LIST,
                         0)) { /* it has been taken from there, but by whom? */
        shadow_settle();
    }
    return *era == me->era;
}

/* tape.c */
extern bool tape_is_on;
void tape_put(const char *kind, int32_t thread, uint64_t object, uint64_t what, uint32_t line);
extern PyMethodDef tape_functions[];

/* lockorder.c: who has which locks; locksets.c: which of them at once */
extern bool locks_are_watched;
void locks_begin(void);
void locks_taken(Object *object, bool is_for_ever);
void locks_released(Object *object);
void locks_forget(Object *object);
void locks_done(enum Operation kind, Object *object);
uint32_t locks_waiting(enum Operation kind, Object *object, int64_t deadline_ns);
void locks_woken(uint32_t number, const Object *object);
uint32_t locks_number(const Thread *thread);
PyObject *locks_show(uint32_t number);
extern PyMethodDef lock_functions[], lock_finding_functions[];

/* ready.c: event loops in a run */
bool ready_is_free(const Object *object);
bool ready_look(void);
extern PyMethodDef ready_functions[];

/* access.c: a place in rewritten code that reads or writes something shared */
enum AccessKind {
    ACCESS_ATTRIBUTE,
    ACCESS_ITEM,
    ACCESS_CONTENTS,
    ACCESS_GLOBAL,
    ACCESS_CLOSURE,
    ACCESS_METHOD,  /* contents of a container, or else an attribute */
    ACCESS_TURN,    /* contents of what a loop goes over, at each turn */
    ACCESS_MEMBER,  /* contents of what is asked whether it has what lies below on the stack */
    ACCESS_NAMED,   /* an attribute whose name is an operand, as of getattr */
    ACCESS_BOTH,    /* contents of both operands of an operator */
    ACCESS_CREATED, /* none, but a new object; if it writes, the object is known to others at once;
                       if it deletes, the end of one */
    ACCESS_PIECE,   /* no access from here on, but the guard of a run of statements: regions.c */
    ACCESS_LOOP_TURN,
    ACCESS_LOOP_ENTRY,
    ACCESS_COLD_CODE /* the guard of code that has sites for a while: cold.c */
};
#define ACCESS_LETTERS "aicgvmtexonpqyh" /* the kinds, as placeholders spell them */
enum { MOST_MANNERS = 4 };
#define NO_VERSION UINT32_MAX /* of no class */
enum Manner {
    MANNER_UNKNOWN,
    MANNER_NOTHING,   /* not a variable */
    MANNER_OWN,       /* the object's */
    MANNER_INHERITED, /* the object's, or else its class's */
    MANNER_OF_MODULE,
    MANNER_OF_CLASS
};
enum { SITE_BITS = 20 };       /* of its number */
enum { MOST_PASSED_OVER = 2 }; /* places: the compiler copies some code */
struct AccessSite {
    PyObject_HEAD PyObject *name; /* interned, as the compiler mangles it; of contents, the method
                                     that is asked for them; empty if there is none */
    uint8_t kind, depth; /* depth: where a site that recalls finds its object on the stack */
    bool writes;
    bool remembers; /* a method's: another site, after the arguments, is the point */
    bool recalls;
    bool augments; /* the value about to be augmented lies below it on the stack */
    bool commutes; /* an augmentation that only adds, += or |= */
    bool deletes;
    bool is_unbound; /* a method of a type: its first operand is the object */
    bool is_bound;   /* by name: the object is that of the bound method below the operands */
    bool is_raw;     /* by name, past the methods of the object's own class */
    bool is_bare;    /* has no operand: it is a statement */
    uint8_t local;   /* its operand is loaded right after it, from this variable; counted from 1 */
    bool ticks;      /* a tick as well, which comes first */
    bool is_quiet;   /* no point, in code that the thread knows well: cold.c */
    const PyCodeObject *code; /* that it was planted into */
    uint32_t number;          /* for memos: races.h; 0 if there are too many */
    uint16_t place;           /* on its frame's stack, where it was found last */
    uint16_t slot;  /* the same, counted from the first of the frame's variables; 0: unknown */
    uint8_t method; /* place in the table of modes.c */
    uint8_t next_manner;
    uint32_t own_version; /* of the class met last whose objects have it; or NO_VERSION */
    struct {              /* of the attribute, in classes of these versions: attributes.c */
        uint32_t version;
        uint8_t manner;
        uint64_t epoch; /* in which the class's part was told last */
    } manners[MOST_MANNERS];
    Region *region;   /* of a guard */
    Settled *settled; /* what is known of who sets its attribute; NULL if it is of no matter */
    bool is_asleep, is_kept;
    AccessSite *next_asleep;
    struct { /* where it is jumped over while it sleeps, and what was there */
        _Py_CODEUNIT *at;
        _Py_CODEUNIT was[2];
    } passed_over[MOST_PASSED_OVER];
    PyObject *names;       /* of a new object, those of the attributes that it is given */
    uint32_t pair;         /* the same, and not 0, for the read and the write of `a.b += c` */
    uint32_t line, column; /* of the attribute's name, the bracket, or the object */
    uint64_t key;          /* of its place in the source; 0 until it is asked for */
    uint32_t order, asked; /* when it was found to race, and when that was last looked up */
    struct {               /* as it was told last: depot.c */
        uint32_t number, stack, locks;
        int32_t thread;
        uint8_t mode;
    } told;
};
extern bool detector_is_alone; /* sites need to tell nobody else */
void access_changed(void);     /* who needs to be told */
bool is_access_placeholder(PyObject *constant);
PyObject *access_site(PyObject *constant);
int access_tell(AccessSite *site, PyObject *operand);
int access_note(AccessSite *site, PyObject *operand);
PyObject *access_below(AccessSite *site, int depth);
void access_make_known(AccessSite *site);
PyObject *access_holder(AccessSite *site);
PyObject *access_called(AccessSite *site, PyObject *operand);
PyObject *access_named(AccessSite *site, PyObject *operand, PyObject **name);

/* plant.c */
#ifdef ASK_AND_JUMP
void plant_after(AccessSite *site);
void plant_sleep(AccessSite *site);
void plant_wake(AccessSite *site);
#else
#define plant_after(site) ((void)0)
#define plant_sleep(site) ((void)0)
#define plant_wake(site) ((void)0)
#endif
PyObject *planted_outcome(int result);
int planted_raise(PyObject *self, PyObject *exception, PyObject *value);

/* glance.c */
int glance_ready(void);
PyTypeObject *glance_type(const AccessSite *site);
bool is_access_site(PyObject *object);

/* regions.c */
int regions_ready(void);
PyTypeObject *regions_type(enum AccessKind kind);
bool is_guard(PyObject *object);
bool regions_are_atoms(PyObject *list);

/* cold.c */
extern PyTypeObject ColdType;
void cold_adopt(AccessSite *site);
void cold_forget(Thread *thread);
uint32_t cold_number(void);
void cold_has_waited(int64_t time_ns);
bool cold_is_too_dear(void);
bool cold_knows(const Thread *thread, uint32_t number);
bool cold_is_known(Thread *thread, uint32_t number);

/* settled.c */
void settled_meet(AccessSite *site);
bool settled_sleeps(AccessSite *site);
void settled_written(const AccessSite *site, PyObject *name, bool is_new);
void settled_wake_all(void);
void settled_begin(void);
extern PyMethodDef settled_functions[];

/* attributes.c */
bool attributes_are_own(AccessSite *site, PyTypeObject *type, PyObject *name);
typedef int (*TellVariable)(AccessSite *site, PyObject *object, PyObject *name, bool writes);
int attributes_tell(AccessSite *site, PyObject *object, PyObject *name, bool writes,
                    TellVariable tell);
bool attributes_are_all(AccessSite *site, PyObject *object);
bool attributes_are_private(AccessSite *site, PyObject *object);
bool attributes_repeat(AccessSite *site, PyObject *object);
int attributes_created(AccessSite *site, PyObject *object, TellVariable tell);

/* modes.c */
uint8_t modes_method(const char *name);
int modes_tell(AccessSite *site, PyObject *operand);
int modes_tell_item(AccessSite *site, PyObject *object, PyObject *key);

/* containers.c: all borrowed */
enum { MOST_ITERATED = 4 };
int containers_find_types(void);
bool is_container(PyObject *object);
bool is_plain_container(PyObject *object);
bool is_constant(PyObject *object);
bool has_no_attributes(PyObject *object);
bool has_no_items(PyObject *object);
PyObject *container_of(PyObject *object);
PyObject *gone_over(PyObject *iterator);
PyObject *container_of_method(PyObject *object, PyObject *name);
bool is_of_library(PyObject *method);
bool is_deque(PyObject *object);
bool fills_itself(PyObject *object);
extern PyTypeObject *deque_type;
size_t iterated_by(PyObject *iterator, PyObject **found, size_t count, int depth);

/* watch.c */
extern bool accesses_are_watched, races_are_watched;
int watch_access(AccessSite *site, PyObject *object, PyObject *name, bool writes);
int watch_created(AccessSite *site, PyObject *object);
int watch_race(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode);
extern PyMethodDef watch_functions[];

/* variables.c */
int access_point(Thread *thread, AccessSite *site, PyObject *object, PyObject *name, bool writes);

/* chooser.c: strategies written in Python */
void chooser_ask(Thread *thread);
Thread *chooser_successor(Thread *thread);

/* replay.c */
int replay_begin(void);
int replay_point(Thread *thread, int64_t step);
Thread *replay_yield_target(Thread *thread, int64_t step);
void replay_check(enum Operation kind, uint32_t site, uint32_t object, int64_t step);
void replay_settle(Thread *thread);
void replay_grant(Thread *thread, int64_t step);
void replay_stop_between(Thread *thread);
void replay_close(void);
void replay_lost(const Thread *thread) __attribute__((noreturn));
void replay_deaths(Thread *thread, bool is_last);
int64_t replay_clock(uint64_t clock);
void replay_require_input(void);
void replay_bad_input(const char *what) __attribute__((noreturn));
void replay_other_input(uint64_t recorded, uint64_t now) __attribute__((noreturn));

/* outcome.c: what is written down before the gate ends the process */
extern PyObject *last_words;
void report_deadlock(void) __attribute__((noreturn));
void report_divergence(const char *reason, int64_t step, const char *expected, const char *actual)
    __attribute__((noreturn));
void end_of_recording(void) __attribute__((noreturn));

/* values.c, recalled.c */
enum Kept { KEPT_BROKEN = -1, KEPT, KEPT_NOT, KEPT_SIGNAL, KEPT_CALLBACK };
bool value_is_keepable(PyObject *value);
void value_put(PyObject *value);
void value_put_exception(void);
void value_put_filled(Py_ssize_t count, const void *bytes);
void value_put_performed(void);
void value_put_signalled(int number);
void value_put_called_back(PyObject *value);
enum Kept value_take(Py_buffer *buffer, PyObject **value, int *number);

/* Does a call without waiting; NULL if it cannot, with the rest to do if a part is done. */
typedef PyObject *(*QuickCall)(PyObject *const *args, Py_ssize_t count, PyObject **rest);

/* wrap.c */
int replace_function(PyObject *module, PyMethodDef *method);

/* calls.c, inputs.c, wrap.c: a call of the table, standing in for a function or for a method of a C
 * type */
typedef struct {
    PyObject_HEAD vectorcallfunc call;
    PyObject *native;
    QuickCall quickly; /* tried first, if there is such a thing */
    uint32_t number;   /* in order of wrapping: recordings name calls by it */
    uint32_t flags;
    bool is_method;
} Call;
enum CallFlag {
    CALL_WAITS = 1,           /* may block: the baton is dropped while it runs */
    CALL_ON_DESCRIPTOR = 2,   /* its first argument is a file or a descriptor */
    CALL_FILLS = 4,           /* its second argument is a buffer that it fills */
    CALL_ON_PATH = 8,         /* its first argument is a path; some paths are passed */
    CALL_MAKES = 16,          /* integers in its result are new descriptors */
    CALL_ALSO_PERFORMED = 32, /* a replay performs it too, for its effect on this process alone */
    CALL_STARTS = 64,         /* starts a process, which may write to open files */
    CALL_REAPS = 128,         /* its result begins with the number of a process that has ended */
    CALL_ON_SOCKET = 256,     /* of a socket object, which may be one that never waits */
    CALL_ZERO_SECOND = 512,   /* does not wait if its second argument, self included, is zero */
    CALL_ZERO_FOURTH = 1024,  /* or its fourth */
    CALL_AT_OFFSET = 2048,    /* leaves the position in its file as it is */
    CALL_ENDS_EPOCH = 4096    /* a replay would make it again, and it must not be made twice */
};
const char *call_name(uint64_t number);
void calls_forget(void);
void output_forget(void);
enum InputKind { INPUT_OUTCOME, INPUT_WAITS };
void call_begin_input(const Call *call, enum InputKind kind);
void call_put_signalled(int number);
enum InputKind call_take_input(const Call *call);
Thread *call_thread(void);
PyObject *call_native(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                      PyObject *names);
void call_keep(PyObject *result, Py_buffer *buffer);
PyObject *recorded_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
void call_rejoin(Thread *thread);
void call_define(uint32_t number);
PyObject *call_recall(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                      PyObject *names, Py_buffer *buffer);
PyObject *call_keep_or_recall(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                              PyObject *names);
PyObject *outside_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *passed_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *sent_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *raised_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *output_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
bool call_buffer(const Call *call, PyObject *const *args, size_t count, Py_buffer *buffer);
int descriptor_of(const Call *call, PyObject *target);

/* quick.c */
QuickCall quick_call(const char *name);

/* boots.c: what a new thread is handed */
void boots_begin(void);
void boots_end(void);
void boots_install(void);

/* forks.c */
void forks_begin(int write_fd, int read_fd);
int forks_directory(void);
void forks_prepare(void);
void forks_in_child(void);
void forks_in_parent(void);
void forks_reap(PyObject *result);
PyObject *fork_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
void log_leave(void);
void sites_forget(void);
void objects_prepare(void);
void objects_forked(void);
void objects_forget(int32_t survivor);
void replay_forget(void);
void clock_forget(void);
void files_forget(uint64_t base);

/* proc.c: what the kernel says of this process */
void proc_read(pid_t tid, const char *name, char *text, size_t size);
char proc_state(pid_t tid);
bool proc_each(int directory_fd, bool (*each)(const char *name, void *given), void *given);

/* fork.c: copies of the whole process */
struct timespec;
extern __thread jmp_buf *fork_mark; /* where the copy of a thread in an outside call goes on */
bool fork_is_on(void);
const char *fork_begin(void);
long fork_park(const _Atomic int32_t *word, const struct timespec *deadline, int *error);
void fork_leave(void);
pid_t fork_all(bool is_frozen, bool is_sibling);
bool fork_thaw(void);

/* checkpoint.c: stops of a process that somebody travels through */
enum StopReason {
    STOPPED_AT_BEGINNING,
    STOPPED_AT_STEP,
    STOPPED_AT_END,
    STOPPED_IN_DEADLOCK,
    STOPPED_DIVERGED,
    STOPPED_AT_PLACE
};
void checkpoint_begin(int fd);
bool checkpoint_is_on(void);
void checkpoint_wait(int fd);
void checkpoint_stop(enum StopReason reason);
void checkpoint_talk(enum StopReason reason);
PyObject *checkpoint_refuse(PyObject *module, PyObject *why);
void files_become_private(void);

/* digest.c: a fingerprint of objects and of what they reach */
PyObject *digest_objects(PyObject *module, PyObject *args);

/* unseen.c: imports that the program does not see */
PyObject *unseen_import(const char *name);
PyObject *unseen_import_named(PyObject *module, PyObject *name);

/* epoch.c: a run that can go back to where its epoch began */
void epoch_begin(int fd, int64_t bytes, int64_t steps, int64_t ns, int tools);
bool epoch_start(void);
extern bool epoch_is_due;
extern _Atomic bool
    epoch_is_looked_at; /* nothing may be logged: a copy is made, or reads the log */
void epoch_look(void);
bool epoch_renew(void);
void epoch_end(enum StopReason reason);
int epoch_close(Thread *thread);
bool epoch_leave(void);
void epoch_become_replay(int64_t last_step);
size_t log_size(void);
void log_rewind(void);
int log_become_replay(void);
int state_become_private(void);
void replay_resume(int64_t entry_step, int32_t thread, uint32_t object, int64_t step);
void clock_resume(int64_t *values);
uint32_t sites_known(void);
int sites_resume(void);
void sites_renew(void);
void files_renew(void);
void files_become_replay(void);
void files_note_positions(void);
void files_mark_older(void);
void files_let_go(void);
extern PyMethodDef epoch_functions[];

/* trace.c: where the program is between two steps */
bool trace_is_on(void);
void trace_stop(enum StopReason reason);
void trace_new_thread(void);
void trace_give_up(void);
extern PyMethodDef trace_functions[], look_functions[];
bool look_is_alone(void);

/* culprits.c: which line damages a block of memory; see canaries.h */
extern bool culprits_are_watched;
int culprits_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument);
void culprits_switch(int32_t next);
void culprits_new_thread(void);
uint32_t canaries_tell(char *text, size_t size);
const char *canaries_start(bool overflow, bool freed);
extern PyMethodDef canary_functions[], culprit_functions[];

/* descriptors.c: at replay, the numbers that descriptors had */
enum Place { PLACE_SOCKET, PLACE_NULL, PLACE_DIRECTORY, PLACE_FILE };
int descriptor_place(int number, enum Place place);
int descriptor_move(int fd, int number);
PyObject *makes_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
bool descriptors_place_all(PyObject *result);

/* files.c, scratch.c, fileio.c, paths.c */
int files_begin(int directory_fd);
void files_share(void);
bool files_pass_path(PyObject *path);
bool files_are_below(const char *path);
PyObject *open_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *read_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
PyObject *close_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names);
unsigned char *stream_reserve(Stream *stream, size_t size);
void stream_advance(Stream *stream, size_t size);

/* signals.c */
void signals_raise(int number);
bool signals_collect(enum EntryKind entry);
int signals_run(Thread *thread);
int signals_handle_now(int number);
int signals_watch(int number, bool is_default);
void signals_note_handler(int number, bool is_there);
void signals_begin_run(void);
bool signals_may_come(void);
int signals_watch_replay(int number);
void signals_give_up_waiting(void);

/* collect.c */
bool collect_if_due(void);
void collect_now(uint64_t generation);
bool collect_is_under_way(const Thread *thread);
int collect_take_over(void);
void collect_give_back(void);
PyObject *collect_enable(PyObject *module, PyObject *unused);
PyObject *collect_disable(PyObject *module, PyObject *unused);
PyObject *collect_is_enabled(PyObject *module, PyObject *unused);

/* deaths.c, watches.c, references.c */
void deaths_obey(Thread *thread, enum Death death, uint64_t number);
void deaths_part(void);
void deaths_let_go(void);
void deaths_forget(void);
extern PyTypeObject WatchType, CallbackType;
extern PyMethodDef death_functions[];

/* keys.c */
extern PyMethodDef key_functions[];

/* audit.c */
void audit_note(enum NoteKind kind, uint64_t value, int32_t thread, const char *text);
void report_uncontrolled(const char *what) __attribute__((noreturn));
extern PyMethodDef audit_functions[];

/* patrol.c */
int patrol_start(void);
void patrol_stop(void);

/* the parts that patch the interpreter; each returns -1 with an exception set */
typedef struct {
    const char *name;
    PyObject *native;
} Native;
PyObject *patch_method(PyTypeObject *type, PyMethodDef *definition);
PyObject *call_method(PyObject *method, PyObject *self, PyObject *const *args, Py_ssize_t count,
                      PyObject *names);
int parse_wait(PyObject *const *args, Py_ssize_t count, PyObject *names, bool *blocking,
               int64_t *timeout_ns);
int seconds_to_ns(PyObject *seconds, int64_t *ns);
int64_t deadline_after(int64_t timeout_ns);
int locks_install(PyTypeObject *lock_type, PyTypeObject *rlock_type);
int queues_install(PyTypeObject *type);
int texts_install(void);
bool texts_are_written(void);
int threads_install(PyObject *thread_module);
int threads_bind(Thread *thread);
void threads_move(Thread *thread);
void threads_let_go(Thread *thread);
bool threads_is_let_go(void);
bool threads_are_leaving(void);
PyObject *threads_leave(PyObject *result);
bool is_asked_by_us(const Thread *thread);
void ordered_forget(void);
void imports_tell_missing(Thread *thread, PyObject *dict, PyObject *name);
extern PyMethodDef clock_functions[], thread_functions[], call_functions[], import_functions[];
extern PyMethodDef wrap_functions[], input_functions[], ordered_functions[], address_functions[];
extern PyMethodDef path_functions[], value_functions[], file_functions[], signal_functions[],
    fork_functions[];
extern PyMethodDef site_functions[];
extern PyTypeObject OrderedType, TickType, NumbersType, OthersType, CallType, MethodCallType,
    BootType, ReadyType;

/* tick.c */
int tick_slowly(Thread *thread);
int tick_alone(Thread *thread);

/* A point, and nothing more: negative if it raised, else 1. */
static inline int tick(Thread *thread)
{
    return __builtin_expect(thread != NULL && --thread->budget > 0, 1) ? 1 : tick_slowly(thread);
}

/* A controlled thread whose operations count now, or NULL. */
static inline Thread *gate_me(void)
{
    Thread *thread = me;
    if (__builtin_expect(!gate.active, 0)) {
        return NULL;
    }
    if (__builtin_expect(thread == NULL, 0)) {
        gate_foreign();
    }
    return thread;
}

/* Our own Python code runs unseen: between these two, nothing is an operation. Nor must objects of
 * the program's die there that would have died a moment later, and what they do not be one. */
static inline Thread *go_quiet(void)
{
    Thread *thread = me;
    if (!HAS_GIL && thread != NULL) {
        thread->has_deaths = compat_put_off_deaths();
    }
    me = NULL;
    quiet++;
    return thread;
}

static inline void end_quiet(Thread *thread)
{
    quiet--;
    me = thread;
    if (!HAS_GIL && thread != NULL && thread->has_deaths) {
        compat_take_up_deaths();
    }
}

/* The point before an operation; -1 with an exception set if a signal handler raised. */
static inline int gate_enter(Thread *thread, enum Operation kind, Object *object)
{
    thread->pending_op = (uint8_t)kind;
    thread->pending_object = object == NULL ? 0 : object->id;
    thread->pending = object;
    if (__builtin_expect(--thread->budget <= 0 || gate.choose_at_operations ||
                             atomic_load(&gate.signals_pending) != 0,
                         0)) {
        return gate_slow(thread);
    }
    return 0;
}

#endif
