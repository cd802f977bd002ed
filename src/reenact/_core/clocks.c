/* Vector clocks: what each thread knows to have happened, and what each object passes on.
 *
 * A thread's clock has a place for every slot. A slot is a thread's own while it lives; a new
 * thread may take the slot of one that has ended, if whoever starts it knows of that end: its
 * clock then goes on where the other's stopped, and all that the other did is ordered before. So a
 * server that starts a thread for each request needs few slots, and nothing is lost. If nobody ever
 * learns of their ends, what the threads did that ended longest ago is forgotten in the end. */
#include "core.h"
#include <string.h>
#include <sys/mman.h>

static struct {
    uint32_t last;  /* the clock that its thread ended with; 0 while that lives */
    uint64_t ended; /* the how-manieth thread to end that was */
    bool is_free;   /* what its thread did is forgotten */
} slots[MOST_SLOTS];
static uint64_t ends;
static uint32_t begun;
static int32_t slots_used;
static Clock *free_clocks[10]; /* by width; the first words of each lead to the next */
bool clocks_are_on, clocks_overflowed;
uint32_t clocks_forgotten;

/* Memory of our own, away from the program's heap: a replay does not need it, and must find the
 * program's objects where they were. Nothing is given back; what grows doubles. */
#define MEMORY ((void *)0x2E0000000000ULL)
enum { MEMORY_BITS = 36 };

void *take_memory(size_t size)
{
    static char *at, *end;
    if (at == NULL) {
        at = mmap(MEMORY, 1ULL << MEMORY_BITS, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        end = at == MAP_FAILED ? at : at + (1ULL << MEMORY_BITS);
    }
    size = (size + 15) & ~(size_t)15;
    if (at == MAP_FAILED || (size_t)(end - at) < size) {
        Py_FatalError("reenact: no memory for what threads share");
    }
    at += size;
    return at - size;
}

/* Memory of ours as 32 bits. */
void *memory_at(uint32_t place)
{
    return (char *)MEMORY + ((size_t)place << 4);
}

uint32_t memory_place(const void *memory)
{
    return (uint32_t)(((const char *)memory - (const char *)MEMORY) >> 4);
}

/* ---- clocks as such ---- */

static int class_of(uint32_t width)
{
    int class = 3;
    while ((1U << class) < width) {
        class++;
    }
    return class;
}

static Clock *new_clock(uint32_t width)
{
    int class = class_of(width);
    Clock *clock = free_clocks[class];
    size_t size = sizeof *clock + sizeof *clock->at * (1U << class);
    if (clock == NULL) {
        clock = take_memory(size);
    }
    else {
        memcpy(&free_clocks[class], clock, sizeof clock);
        memset(clock, 0, size);
    }
    clock->width = 1U << class;
    return clock;
}

/* Nobody has it any more. */
void clock_free(Clock *clock)
{
    if (clock != NULL) {
        int class = class_of(clock->width);
        memcpy(clock, &free_clocks[class], sizeof clock);
        free_clocks[class] = clock;
    }
}

static Clock *wide_enough(Clock *clock, uint32_t width)
{
    if (clock == NULL || clock->width < width) {
        Clock *wider = new_clock(width);
        if (clock != NULL) {
            memcpy(wider->at, clock->at, clock->width * sizeof *clock->at);
            wider->knower = clock->knower;
            clock_free(clock);
        }
        clock = wider;
    }
    return clock;
}

/* What comes after it is 0. */
static inline uint32_t used_width(const Clock *clock)
{
    return clock->width < (uint32_t)slots_used ? clock->width : (uint32_t)slots_used;
}

static Clock *joined(Clock *clock, const Clock *other)
{
    if (other == NULL) {
        return clock;
    }
    uint32_t width = used_width(other);
    clock = wide_enough(clock, width);
    for (uint32_t i = 0; i < width; i++) {
        clock->at[i] = clock->at[i] < other->at[i] ? other->at[i] : clock->at[i];
    }
    return clock;
}

/* ---- threads ---- */

static void advance(Thread *thread)
{
    thread->clock->at[thread->slot]++;
    thread->epoch = (uint64_t)(uint32_t)thread->slot << 32 | thread->clock->at[thread->slot];
    thread->era = new_era();
    thread->read_all = thread->read_atoms = NO_ERA;
}

/* All begin anew: no thread knows anything of another. */
void clocks_reset(void)
{
    memset(slots, 0, sizeof slots);
    slots_used = 0;
    clocks_overflowed = false;
    clocks_forgotten = 0;
}

/* Of the threads that have ended, the half that did first; false if there is none. */
static bool forget_half(void)
{
    bool are_gone[MOST_SLOTS] = {false};
    uint32_t count = 0, left = 0;
    for (int32_t i = 0; i < MOST_SLOTS; i++) {
        count += slots[i].last != 0;
    }
    for (left = (count + 1) / 2; left > 0; left--) {
        int32_t first = -1;
        for (int32_t i = 0; i < MOST_SLOTS; i++) {
            bool is_left = slots[i].last != 0 && !are_gone[i];
            if (is_left && (first < 0 || slots[i].ended < slots[first].ended)) {
                first = i;
            }
        }
        are_gone[first] = slots[first].is_free = true;
        clocks_forgotten++;
    }
    races_forget(are_gone);
    return count > 0;
}

/* A slot that nobody has, or whose last thread is known to have ended, by one with this clock. */
static int32_t free_slot(const Clock *known)
{
    for (int32_t i = 0; i < slots_used; i++) {
        if (slots[i].is_free || (slots[i].last != 0 && clock_at(known, i) >= slots[i].last)) {
            return i;
        }
    }
    if (slots_used < MOST_SLOTS) {
        return slots_used++;
    }
    if (races_are_on && !gate.exploring && forget_half()) {
        return free_slot(known);
    }
    clocks_overflowed = true; /* from now on some accesses look ordered that are not */
    for (int32_t i = 0; i < MOST_SLOTS; i++) {
        if (slots[i].last != 0) {
            return i;
        }
    }
    return MOST_SLOTS - 1;
}

/* The thread begins; a parent that is the thread itself is none. */
void clocks_begin(Thread *thread, Thread *parent)
{
    const Clock *known = parent == thread ? NULL : parent->clock;
    clock_free(thread->clock);
    int32_t slot = free_slot(known);
    thread->slot = slot;
    thread->knower = ++begun;
    thread->clock = joined(new_clock((uint32_t)slot + 1), known);
    thread->clock = wide_enough(thread->clock, (uint32_t)slot + 1);
    uint32_t *own = &thread->clock->at[slot];
    *own = *own < slots[slot].last ? slots[slot].last : *own;
    advance(thread);
    slots[slot].last = 0;
    slots[slot].is_free = false;
    if (tape_is_on) {
        tape_put("begin", thread->index, (uint64_t)parent->index, 0, 0);
    }
    if (known != NULL) {
        advance(parent);
    }
    races_changed_threads(thread);
}

void clocks_end(Thread *thread)
{
    if (thread->clock != NULL && slots[thread->slot].last == 0) {
        slots[thread->slot].last = thread->clock->at[thread->slot];
        slots[thread->slot].ended = ++ends;
    }
}

/* Is there nobody but this thread, and does it know that all others have ended? Then nothing that
 * it does can race, with anything before or after. */
bool clocks_are_alone(const Thread *thread)
{
    for (int32_t i = 0; i < slots_used; i++) {
        if (i != thread->slot &&
            (slots[i].last == 0 || clock_at(thread->clock, i) < slots[i].last)) {
            return false;
        }
    }
    return true;
}

/* ---- edges ---- */

static void note(const char *kind, uint64_t object)
{
    if (tape_is_on) {
        tape_put(kind, me->index, object, 0, 0);
    }
}

/* A lock goes mostly back to the thread that had it last: what that knows already is not joined
 * once more, and what it passes on takes the place of what was there. */
static inline bool is_known(const Clock *clock)
{
    return clock->knower == me->knower;
}

void clocks_acquire(Clock *clock)
{
    if (clock != NULL && !is_known(clock)) {
        me->clock = joined(me->clock, clock);
        clock->knower = me->knower;
    }
}

void clocks_release(Clock **clock)
{
    const Clock *mine = me->clock;
    uint32_t width = used_width(mine);
    if (*clock != NULL && is_known(*clock) && (*clock)->width >= width) {
        memcpy((*clock)->at, mine->at, width * sizeof *mine->at);
    }
    else {
        bool is_new = *clock == NULL;
        *clock = joined(*clock, mine);
        (*clock)->knower = is_new ? me->knower : 0;
    }
    advance(me);
}

/* The thread whose end the operation has seen, -1 if none's: 3.11 and 3.12 join a thread by taking
 * a lock that its end releases. */
int32_t clocks_ended(enum Operation kind, const Object *object)
{
    return kind == OP_JOIN ? (int32_t)object->id : kind == OP_ACQUIRE ? object->ends : -1;
}

/* What threading does for itself orders nothing but a thread's end and what follows it: its locks
 * are everybody's, and would order all that threads ever do. */
void clocks_done(enum Operation kind, Object *object)
{
    if (me->clock == NULL || object == NULL) {
        return;
    }
    int32_t ended = clocks_ended(kind, object);
    if (ended >= 0) {
        note("join", (uint64_t)ended);
        me->clock = joined(me->clock, gate.slots[ended].clock);
        races_changed_threads(me);
    }
    else if (search_is_threading()) {
        return;
    }
    else if (kind == OP_ACQUIRE || kind == OP_GET) {
        note("acquire", object->serial);
        clocks_acquire(object->clock);
    }
    else if (kind == OP_RELEASE || kind == OP_PUT) {
        note("release", object->serial);
        clocks_release(&object->clock);
    }
}
