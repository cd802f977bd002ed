/* The race detector: FastTrack (Flanagan, Freund, PLDI 2009) over attributes, variables and items.
 *
 * Two accesses race if they conflict and neither happens before the other; clocks.c knows what
 * happens before what. For each variable the last write and the reads since are kept, as epochs:
 * whose, at which clock, and the number of the access in the depot.
 *
 * A container is more than one variable. Its items are one each. Its *shape* is another: all
 * operations read it but those that move items about, which write it. And there are the updates of
 * items and the looks at the whole, of which each kind gets along with itself but not with the
 * other: the *balance*, with two sides that are kept like reads.
 *
 * A thread that is alone cannot race: as long as that is so, nothing is looked at. */
#include "races.h"
#include <string.h>

#define EPOCH_MASK ((1ULL << 40) - 1)
enum { SEVERAL = 255 }; /* in place of a slot: the clock is the place of Epochs */

/* Reads by threads that do not know of each other. */
typedef struct {
    uint32_t count, room;
    Word words[];
} Epochs;

#define BALANCE (1ULL << 63) /* in `where`: not the variable, but the balance of the same name */
enum { WHOLE = 0, CREATED = 2 }; /* names that no name and no item has */

bool races_are_on, races_are_idle, sites_are_points = true;
PyObject *races_key;
const char *const MODES[] = {
#define AS_TEXT(name, text) text,
    ACCESS_MODES(AS_TEXT)};

static struct {
    bool is_alone;
    uint64_t seed, threshold; /* of variables, this share is looked at */
} races;

/* Accesses of late: the same once more, in the same epoch and to the same object, tells nothing. */
typedef struct {
    PyObject *object;
    uintptr_t what;
    uint64_t moment;
    uint64_t mode;
    Cell *cell; /* if there is no more to it than that */
} Seen;
enum { MOST_SEEN = 1 << 12 };
static Seen seen[MOST_SEEN];

Memo memos[MOST_MEMOS]; /* the same by sites */
static Cell *memo_cells[MOST_MEMOS];
static Cell *last_cell; /* of what was told; NULL if it was more than a plain variable */

/* The access that is being looked at. */
static struct {
    AccessSite *site;
    PyObject *object;
    uint64_t where;
    uintptr_t what;
    enum AccessMode mode;
    Word epoch;
    uint32_t number; /* in the depot; 0 until it is needed */
} now;

/* Cells lie elsewhere now. */
static void forget_places(void)
{
    memset(seen, 0, sizeof seen);
    memset(memos, 0, sizeof memos);
}

static inline void check_places(void)
{
    static uint32_t generation;
    if (__builtin_expect(generation != cells_generation, 0)) {
        generation = cells_generation;
        forget_places();
    }
}

/* An object as a key by which others are known. */
uintptr_t races_identity(PyObject *object)
{
    return (uintptr_t)where_is(object);
}

/* ---- epochs ---- */

static Epochs *free_epochs[16];

static Epochs *epochs_of(Word word)
{
    return memory_at((uint32_t)word);
}

static Epochs *new_epochs(uint32_t room)
{
    int class = __builtin_ctz(room);
    Epochs *epochs = free_epochs[class];
    if (epochs == NULL) {
        epochs = take_memory(sizeof *epochs + room * sizeof(Word));
    }
    else {
        memcpy(&free_epochs[class], epochs->words, sizeof epochs);
    }
    epochs->room = room;
    epochs->count = 0;
    return epochs;
}

static void free_several(Word word)
{
    if ((word >> 32 & 0xFF) == SEVERAL) {
        Epochs *epochs = epochs_of(word);
        int class = __builtin_ctz(epochs->room);
        memcpy(epochs->words, &free_epochs[class], sizeof epochs);
        free_epochs[class] = epochs;
    }
}

static Word several(const Epochs *epochs)
{
    return (Word)SEVERAL << 32 | memory_place(epochs);
}

static bool is_before(Word word)
{
    int32_t slot = (int32_t)(word >> 32 & 0xFF);
    return slot == me->slot || (uint32_t)word <= clock_at(me->clock, slot);
}

static uint32_t number(void)
{
    if (now.number == 0) {
        now.number = depot_access(now.site, now.mode, locks_number(me));
    }
    return now.number;
}

static Word word_now(void)
{
    return now.epoch | (Word)number() << 40;
}

static const Access *created_where(uint64_t where)
{
    const Cell *cell = cell_if_known(where, CREATED);
    return cell == NULL ? NULL : depot_get((uint32_t)(cell->write >> 40));
}

static void __attribute__((noinline, cold)) report(Word earlier)
{
    const Access *first = depot_get((uint32_t)(earlier >> 40));
    const Access *second = depot_get(number());
    if (first != NULL && second != NULL) {
        found_race(first, second, now.object, now.what, races_key, created_where(now.where));
    }
}

static void check(Word word)
{
    if (word == 0) {
        return;
    }
    if ((word >> 32 & 0xFF) != SEVERAL) {
        if (!is_before(word)) {
            report(word);
        }
        return;
    }
    const Epochs *epochs = epochs_of(word);
    for (uint32_t i = 0; i < epochs->count; i++) {
        if (!is_before(epochs->words[i])) {
            report(epochs->words[i]);
        }
    }
}

static Word with_more(Word word, Word added)
{
    Epochs *epochs = epochs_of(word);
    if (epochs->count == epochs->room) {
        Epochs *larger = new_epochs(epochs->room * 2);
        memcpy(larger->words, epochs->words, epochs->count * sizeof(Word));
        larger->count = epochs->count;
        free_several(word);
        epochs = larger;
        word = several(larger);
    }
    epochs->words[epochs->count++] = added;
    return word;
}

/* Keep what this thread does among reads, in place of what it did before, or of what this
 * follows. */
static Word keep(Word word)
{
    if (word == 0) {
        return word_now();
    }
    if ((word >> 32 & 0xFF) != SEVERAL) {
        if (is_before(word)) {
            return word_now();
        }
        Epochs *epochs = new_epochs(4);
        epochs->words[epochs->count++] = word;
        epochs->words[epochs->count++] = word_now();
        return several(epochs);
    }
    Epochs *epochs = epochs_of(word);
    for (uint32_t i = 0; i < epochs->count; i++) {
        if ((int32_t)(epochs->words[i] >> 32 & 0xFF) == me->slot) {
            if ((epochs->words[i] & EPOCH_MASK) != now.epoch) {
                epochs->words[i] = word_now();
            }
            return word;
        }
    }
    return with_more(word, word_now());
}

/* ---- variables ---- */

static void read_cell(Cell *cell)
{
    if ((cell->read & EPOCH_MASK) != now.epoch && (cell->write & EPOCH_MASK) != now.epoch) {
        check(cell->write);
        cell->read = keep(cell->read);
    }
}

static void write_cell(Cell *cell)
{
    if ((cell->write & EPOCH_MASK) != now.epoch) {
        check(cell->write);
        check(cell->read);
        free_several(cell->read);
        cell->read = 0;
        cell->write = word_now();
    }
}

/* Is it clear that this access races with nothing, so that it is to be noted and no more? */
static bool is_quiet(const Cell *cell, bool writes)
{
    if (cell->write != 0 && !is_before(cell->write)) {
        return false;
    }
    return !writes || cell->read == 0 ||
           ((cell->read >> 32 & 0xFF) != SEVERAL && is_before(cell->read));
}

/* What the access means to the container as a whole was told. */
static Cell *item_cell(void)
{
    if (!PyList_Check(now.object) || (now.what & 1) == 0 || now.what >> 1 >= MOST_ITEMS) {
        return cell_of(now.where, now.what);
    }
    Items *items = items_of(now.where);
    size_t which = marks_of(now.epoch);
    *(now.mode == MODE_ITEM_WRITE ? &items->written[which] : &items->read[which]) = now.epoch;
    return items_cell(items, (uint32_t)(now.what >> 1));
}

/* That an item was read is told. If all were, the list bears a sign of it, until somebody changes
 * it or another thread reads it all. */
static void mark_item(Items *items, PyObject *list, size_t index)
{
    uint32_t marked = items_mark(items, index, me->epoch);
    if (marked != Py_SIZE(list) || !PyList_CheckExact(list) ||
        !items_are_marked(items, marked, me->epoch)) {
        return;
    }
    uint32_t *sign = regions_are_atoms(list) ? &me->read_atoms : &me->read_all;
    if (*sign == NO_ERA) {
        *sign = new_era();
    }
    ERAS[(uintptr_t)list >> 4] = *sign == NO_ERA ? 0 : *sign;
}

static void mark_if_item(PyObject *object, uintptr_t what)
{
    if (PyList_Check(object) && (what & 1) && what >> 1 < MOST_ITEMS) {
        mark_item(items_of(where_is(object)), object, what >> 1);
    }
}

static bool has_own_read(Word word)
{
    if ((word >> 32 & 0xFF) != SEVERAL) {
        return (word & EPOCH_MASK) == me->epoch;
    }
    const Epochs *epochs = epochs_of(word);
    for (uint32_t i = 0; i < epochs->count; i++) {
        if ((epochs->words[i] & EPOCH_MASK) == me->epoch) {
            return true;
        }
    }
    return false;
}

enum Side { UPDATES, LOOKS };

static void weigh(uint64_t where, uint64_t what, enum Side side)
{
    Cell *balance = cell_of(where | BALANCE, what);
    Word *own = side == UPDATES ? &balance->write : &balance->read;
    if ((*own & EPOCH_MASK) == now.epoch) {
        return;
    }
    check(side == UPDATES ? balance->read : balance->write);
    *own = keep(*own);
}

/* ---- accesses ---- */

/* An edge by an object that is no lock: what happened before it was passed on happens before it is
 * taken up. Kept in the balance of a name that has none. */
static void pass_on(uint64_t where)
{
    Cell *cell = cell_of(where | BALANCE, CREATED);
    Clock *clock = cell->write == 0 ? NULL : memory_at((uint32_t)cell->write);
    clocks_release(&clock);
    cell->write = memory_place(clock);
}

static void take_up(uint64_t where)
{
    const Cell *cell = cell_of(where | BALANCE, CREATED);
    if (cell->write != 0) {
        clocks_acquire(memory_at((uint32_t)cell->write));
    }
}

static void begin_look(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode)
{
    now.site = site;
    now.object = object;
    now.where = where_is(object);
    now.what = what;
    now.mode = mode;
    now.epoch = me->epoch;
    now.number = 0;
}

static void look_at_item(uint64_t where, uintptr_t what, enum AccessMode mode)
{
    switch (mode) {
    case MODE_ITEM_READ:
        read_cell(item_cell());
        mark_if_item(now.object, what);
        break;
    case MODE_ITEM_WRITE:
        weigh(where, WHOLE, UPDATES);
        write_cell(item_cell());
        break;
    case MODE_ITEM_UPDATE:
        weigh(where, WHOLE, UPDATES);
        read_cell(item_cell());
        weigh(where, what, UPDATES);
        break;
    case MODE_ITEM_TEST:
        read_cell(item_cell());
        weigh(where, what, LOOKS);
        break;
    default: /* that it is there from now on */
        weigh(where, WHOLE, UPDATES);
        read_cell(item_cell());
        break;
    }
}

/* Returns the variable's cell, if there is but one. */
static Cell *look(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode)
{
    begin_look(site, object, what, mode);
    uint64_t where = now.where;
    if (mode <= MODE_WRITE) {
        Cell *cell = cell_of(where, what);
        (mode == MODE_READ ? read_cell : write_cell)(cell);
        return cell;
    }
    if (mode == MODE_WHOLE_WRITE) {
        write_cell(cell_of(where, WHOLE));
        return NULL;
    }
    if (mode == MODE_TAKE) { /* this comes after what was done before something was put in */
        take_up(where);
    }
    read_cell(cell_of(where, WHOLE));
    switch (mode) {
    case MODE_PUT:
        weigh(where, WHOLE, UPDATES);
        pass_on(where);
        break;
    case MODE_TAKE:
    case MODE_UPDATE: weigh(where, WHOLE, UPDATES); break;
    case MODE_WHOLE_READ: weigh(where, WHOLE, LOOKS); break;
    default: look_at_item(where, what, mode); break;
    }
    return NULL;
}

static inline uint64_t moment_of(PyObject *operand)
{
    return me->epoch << 16 | *shadow_at(operand);
}

/* Was all that the site and the operand tell told in this epoch? */
bool races_have_seen(AccessSite *site, PyObject *operand)
{
    return memo_is_of(site, operand, me->epoch);
}

/* The access that a site makes in this epoch, as a word. */
static inline Word word_of(AccessSite *site, enum AccessMode mode)
{
    return me->epoch | (Word)depot_access(site, mode, locks_number(me)) << 40;
}

/* The variable was written before, if at all. This read is kept, in place of one before it. */
static void read_quietly(Cell *cell, AccessSite *site, PyObject *operand)
{
    if ((cell->read & EPOCH_MASK) == me->epoch || (cell->write & EPOCH_MASK) == me->epoch) {
        return;
    }
    if (cell->read == 0 || ((cell->read >> 32 & 0xFF) != SEVERAL && is_before(cell->read))) {
        cell->read = word_of(site, MODE_READ);
        return;
    }
    begin_look(site, operand, 0, MODE_READ);
    cell->read = keep(cell->read);
}

/* It was read before as well, by one thread at most. */
static void write_quietly(Cell *cell, AccessSite *site)
{
    if ((cell->write & EPOCH_MASK) != me->epoch) {
        cell->read = 0;
        cell->write = word_of(site, MODE_WRITE);
    }
}

/* The same, or can it be told in short? */
bool races_repeat(AccessSite *site, PyObject *operand)
{
    check_places();
    size_t place = memo_place(site, operand, me->epoch);
    Memo *memo = &memos[place];
    uint64_t moment = moment_of(operand);
    if (memo->key != memo_key(site, operand)) {
        return false;
    }
    if (memo->moment == moment) {
        return true;
    }
    Cell *cell = memo_cells[place];
    if (cell == NULL || (uint16_t)memo->moment != (uint16_t)moment ||
        !is_quiet(cell, site->writes)) {
        return false;
    }
    if (site->writes) {
        write_quietly(cell, site);
    }
    else {
        read_quietly(cell, site, operand);
    }
    memo->moment = moment;
    return true;
}

/* The same for an item of a list. */
bool races_repeat_item(AccessSite *site, PyObject *list, size_t index)
{
    Items *items = items_of(where_is(list));
    if (site->writes && ERAS[(uintptr_t)list >> 4] != 0) {
        shadow_make_public(list); /* what its items were taken for may be right no more */
    }
    if (!site->writes && items_is_marked(items, index, me->epoch)) {
        mark_item(items, list, index);
        return true;
    }
    size_t which = marks_of(me->epoch);
    if (index >= items->used ||
        (site->writes ? items->written[which] : items->read[which]) != me->epoch) {
        return false;
    }
    Cell *cell = &items->cells[index];
    if ((cell->write & EPOCH_MASK) == me->epoch) {
        return true;
    }
    if (!site->writes && has_own_read(cell->read)) {
        mark_item(items, list, index);
        return true;
    }
    if (!is_quiet(cell, site->writes)) {
        return false;
    }
    begin_look(site, list, index << 1 | 1, site->writes ? MODE_ITEM_WRITE : MODE_ITEM_READ);
    (site->writes ? write_cell : read_cell)(cell);
    if (!site->writes) {
        mark_item(items, list, index);
    }
    return true;
}

static void memorize(AccessSite *site, PyObject *operand, Cell *cell)
{
    if (!tape_is_on && site->number != 0) {
        size_t place = memo_place(site, operand, me->epoch);
        memos[place] = (Memo){memo_key(site, operand), moment_of(operand)};
        memo_cells[place] = cell;
    }
}

/* What was told last is all that the site tells of the operand: one plain variable. */
void races_remember(AccessSite *site, PyObject *operand)
{
    if (last_cell != NULL) {
        memorize(site, operand, last_cell);
        last_cell = NULL;
    }
}

/* What the iterator goes over was told; nothing else comes to it. */
void races_remember_iterator(AccessSite *site, PyObject *iterator)
{
    where_is(iterator);
    memorize(site, iterator, NULL);
}

static inline bool changes(enum AccessMode mode)
{
    const unsigned READS = 1U << MODE_READ | 1U << MODE_ITEM_READ | 1U << MODE_ITEM_TEST |
                           1U << MODE_WHOLE_READ | 1U << MODE_TAKE;
    return (READS >> mode & 1) == 0;
}

void races_access(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode)
{
    last_cell = NULL;
    if (__builtin_expect(tape_is_on, 0) && me != NULL) {
        tape_put(MODES[mode], me->index, where_is(object), what, site->line);
    }
    if (races.is_alone || me == NULL || me->clock == NULL) {
        return;
    }
    if (is_private(object)) {
        return;
    }
    if (ERAS[(uintptr_t)object >> 4] != 0) {
        shadow_make_public(object);
    }
    if (changes(mode)) {
        access_make_known(site);
    }
    if (mode == MODE_WRITE) {
        settled_written(site, (PyObject *)what, site->kind == ACCESS_CREATED);
    }
    if (races.threshold != UINT64_MAX &&
        !cells_sample((uint64_t)((uintptr_t)object >> 4) << 16, races.seed, races.threshold)) {
        return;
    }
    if (mode == MODE_PUT || mode == MODE_TAKE) { /* once more is another edge */
        look(site, object, what, mode);
        return;
    }
    check_places();
    Seen *known =
        &seen[((uintptr_t)object >> 4 ^ what >> 3 ^ (uintptr_t)mode << 7) & (MOST_SEEN - 1)];
    uint64_t moment = me->epoch << 16 | *shadow_at(object);
    if (known->object == object && known->what == what && known->moment == moment &&
        known->mode == mode) {
        last_cell = known->cell;
        if (mode == MODE_ITEM_READ) {
            mark_if_item(object, what);
        }
        return;
    }
    last_cell = look(site, object, what, mode);
    *known = (Seen){object, what, me->epoch << 16 | *shadow_at(object), mode, last_cell};
}

/* Keeps where an object was made. Others may know it already while it is made: if its constructor
 * says so, or is called once more. Then what is called from there is told the same. */
enum Known races_created(AccessSite *site, PyObject *object, bool is_known)
{
    if (me == NULL || me->clock == NULL) {
        return UNKNOWN;
    }
    Cell *cell = cell_of(where_is(object), CREATED);
    const Access *made = depot_get((uint32_t)(cell->write >> 40));
    if (made == NULL) {
        cell->write = (Word)depot_access(site, MODE_WRITE, 0) << 40;
    }
    bool is_again = made != NULL && made->site == site;
    if (is_known || is_again) {
        cell->read = is_again ? MADE_AGAIN : KNOWN;
        shadow_make_public(object); /* or will be, before all of it is done */
    }
    return (enum Known)cell->read;
}

/* Is this the finalizer that Python calls? Then there are no more references to the object than by
 * Python, the function's variable and the site; or a cycle of them was collected. */
static bool is_last_use(PyObject *object)
{
    Frame *frame = compat_top_frame(PyThreadState_Get());
    return frame != NULL && compat_is_called_by_c(frame) &&
           (Py_REFCNT(object) <= 3 || PyObject_GC_IsFinalized(object));
}

/* The object's finalizer runs: all that others did with it came before they let go of it. */
void races_ended(PyObject *object)
{
    if (!races_are_on || me == NULL || me->clock == NULL || !is_last_use(object)) {
        return;
    }
    const Cell *made = cell_if_known(where_is(object), CREATED);
    Word where_made = made == NULL ? 0 : made->write;
    shadow_renew(object);
    cell_of(where_is(object), CREATED)->write = where_made;
}

/* A thread has begun, or this one has learned of the end of another. */
void races_changed_threads(Thread *thread)
{
    races.is_alone = clocks_are_alone(thread);
    races_are_idle = races_are_on && races.is_alone && !sites_are_points && !tape_is_on;
    access_changed();
}

/* ---- threads that are forgotten ---- */

static const bool *gone; /* by slot */

static bool is_gone(Word word)
{
    return word != 0 && (word >> 32 & 0xFF) != SEVERAL && gone[word >> 32 & 0xFF];
}

static Word without_gone(Word word)
{
    if (word == 0 || (word >> 32 & 0xFF) != SEVERAL) {
        return is_gone(word) ? 0 : word;
    }
    Epochs *epochs = epochs_of(word);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < epochs->count; i++) {
        if (!is_gone(epochs->words[i])) {
            epochs->words[kept++] = epochs->words[i];
        }
    }
    epochs->count = kept;
    return word;
}

static void forget_gone(uint64_t where, uint64_t what, Cell *cell)
{
    (void)where;
    if (what != CREATED) {
        cell->write = without_gone(cell->write);
        cell->read = without_gone(cell->read);
    }
}

/* What the threads that had these slots did is known no more: others will have them. */
void races_forget(const bool *are_gone)
{
    gone = are_gone;
    cells_visit(forget_gone);
    gone = NULL;
}

/* ---- for Python ---- */

/* What was seen in an earlier run is forgotten: its clocks mean nothing any more. */
static void forget(uint64_t where, uint64_t what, Cell *cell)
{
    if ((where & BALANCE) == 0 || what != CREATED) {
        free_several(cell->write);
        free_several(cell->read);
    }
    else if (cell->write != 0) {
        clock_free(memory_at((uint32_t)cell->write));
    }
}

/* races_begin(sample, seed, has_points=False): from now on, in the thread that holds the baton.
 * has_points: sites are points as they were without the detector */
static PyObject *races_begin(PyObject *module, PyObject *args)
{
    (void)module;
    double sample;
    unsigned long long seed;
    int has_points = 0;
    if (!PyArg_ParseTuple(args, "dK|p", &sample, &seed, &has_points) || shadow_open() < 0) {
        return NULL;
    }
    cells_visit(forget);
    cells_begin();
    forget_places();
    found_begin();
    settled_begin();
    races.seed = seed << 16;
    races.threshold = sample >= 1 ? UINT64_MAX : (uint64_t)(sample * 18446744073709551615.0);
    sites_are_points = has_points;
    if (!gate.exploring) {
        clocks_reset();
        for (uint32_t i = 0; i < gate.state->threads; i++) {
            if (gate.slots[i].status != ENDED) {
                clocks_begin(&gate.slots[i], &gate.slots[i]);
            }
        }
    }
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        gate.slots[i].era = new_era();
        gate.slots[i].read_all = gate.slots[i].read_atoms = NO_ERA;
    }
    races.is_alone = me != NULL && clocks_are_alone(me);
    races_are_on = clocks_are_on = true;
    races_are_idle = races.is_alone && !sites_are_points && !tape_is_on;
    access_changed();
    Py_RETURN_NONE;
}

static PyObject *races_end(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    races_are_on = races_are_idle = false;
    sites_are_points = true;
    clocks_are_on = gate.exploring;
    access_changed();
    shadow_close();
    Py_RETURN_NONE;
}

/* races_edge(object, passes_on): what was done before it is passed on is ordered before what is
 * done after it is taken up */
static PyObject *races_edge(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object;
    int passes_on;
    if (!PyArg_ParseTuple(args, "Op", &object, &passes_on)) {
        return NULL;
    }
    if (races_are_on && me != NULL && me->clock != NULL) {
        uint64_t where = where_is(object);
        if (tape_is_on) {
            tape_put(passes_on ? "release" : "acquire", me->index, where | BALANCE, 0, 0);
        }
        (passes_on ? pass_on : take_up)(where);
    }
    Py_RETURN_NONE;
}

PyMethodDef race_functions[] = {{"races_edge", races_edge, METH_VARARGS, NULL},
                                {"races_begin", races_begin, METH_VARARGS, NULL},
                                {"races_end", races_end, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
