/* Replayers of the baselines: each access waits until it is its turn in the recorded order.

   DejaVu: the clock of all events must have come to this one. JaRec: no other thread may have an
   event left with a smaller clock. LEAP: the field's vector must have come to this thread. Stride:
   the same for writes, once all reads of the version before were made; reads wait for their
   version.

   They are as simple as they can be, and good for programs whose threads make the same accesses in
   each run, such as the microbenchmark. Synchronisation is left to itself: it is not waited for,
   and traces that are to be replayed have none (`BASELINE_ACCESSES`, see run.py). A thread that
   makes more accesses than it did goes on without waiting, and that is told. Like the recorders
   they are called before the access alone: what is measured is cost. */

#include "baselines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER UINT64_MAX

/* All numbers of one stream. */
typedef struct Numbers {
    uint64_t about;
    uint64_t *at;
    size_t count, room;
    struct Numbers *next;
} Numbers;

#define CHAINS 65536
static Numbers *chains[CHAINS];
static _Atomic uint64_t lost;

static Numbers *numbers_of(uint64_t about, int is_made)
{
    Numbers **chain = &chains[(about * UINT64_C(0x9E3779B97F4A7C15)) >> 48];
    for (Numbers *each = *chain; each != NULL; each = each->next) {
        if (each->about == about) {
            return each;
        }
    }
    if (!is_made) {
        return NULL;
    }
    Numbers *made = calloc(1, sizeof *made);
    made->about = about;
    made->next = *chain;
    return *chain = made;
}

static void add(Numbers *numbers, uint64_t number)
{
    if (numbers->count == numbers->room) {
        numbers->room = numbers->room == 0 ? 64 : numbers->room * 2;
        numbers->at = realloc(numbers->at, numbers->room * sizeof *numbers->at);
    }
    numbers->at[numbers->count++] = number;
}

/* No number is split between two pieces. */
static void read_piece(FILE *file, uint64_t about, uint32_t size)
{
    Numbers *numbers = numbers_of(about, 1);
    uint64_t number = 0;
    int shift = 0;
    for (uint32_t i = 0; i < size; i++) {
        int byte = fgetc(file);
        number |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
        if (byte < 0x80) {
            add(numbers, number);
            number = 0;
            shift = 0;
        }
    }
}

static void read_trace(const char *path)
{
    FILE *file = fopen(path, "rb");
    int length = file == NULL ? EOF : fgetc(file);
    if (length == EOF) {
        fprintf(stderr, "no trace: %s\n", path);
        exit(2);
    }
    fseek(file, length, SEEK_CUR);
    uint64_t about;
    uint32_t size;
    while (fread(&about, sizeof about, 1, file) == 1 && fread(&size, sizeof size, 1, file) == 1) {
        read_piece(file, about, size);
    }
    fclose(file);
}

static void ignore_sync(int thread, uint64_t object, int kind)
{
    (void)thread, (void)object, (void)kind;
}

static void tell_lost(void)
{
    if (lost != 0) {
        fprintf(stderr, "%llu accesses were not in the trace\n", (unsigned long long)lost);
    }
}

/* A thread may make fewer accesses than it did, in the standard library: then nobody comes whom
   others wait for. Whether this one goes on waiting. */
enum { LOOKS_AT_CLOCK = 1 << 12, LONGEST_S = 10 };

static int may_wait(int turn)
{
    static __thread time_t began_s;
    if (turn == 1) {
        began_s = 0;
    }
    if (turn % LOOKS_AT_CLOCK == 0) {
        time_t now_s = time(NULL);
        began_s = began_s == 0 ? now_s : began_s;
        if (now_s - began_s > LONGEST_S) {
            lost++;
            return 0;
        }
    }
    baseline_pause(turn);
    return 1;
}

/* What others wait for of a thread's access, which is let go once that is done. */
static struct {
    void (*let_go)(int thread);
    void *of;
    char apart[48];
} pending[MOST_THREADS];

static void settle(int thread)
{
    if (pending[thread].let_go != NULL) {
        pending[thread].let_go(thread);
        pending[thread].let_go = NULL;
    }
}

static void let_go_later(int thread, void (*let_go)(int thread), void *of)
{
    pending[thread].let_go = let_go;
    pending[thread].of = of;
}

/* ---- DejaVu ---- */

typedef struct {
    const Numbers *numbers;
    size_t next;
    uint64_t at, left; /* of the present interval; and of JaRec the next event's clock */
    char apart[64];
} Reader;

static Reader readers[MOST_THREADS];
static _Atomic uint64_t global_clock;

static void begin_readers(const char *path)
{
    read_trace(path);
    for (int i = 0; i < MOST_THREADS; i++) {
        readers[i].numbers = numbers_of(OF_THREAD(i), 0);
    }
}

static uint64_t next_number(Reader *reader)
{
    const Numbers *numbers = reader->numbers;
    return numbers == NULL || reader->next == numbers->count ? NEVER : numbers->at[reader->next++];
}

static void dejavu_pass(int thread)
{
    atomic_store(&global_clock, readers[thread].at);
}

static void dejavu_access(int thread, uint64_t location, int is_write)
{
    (void)location, (void)is_write;
    settle(thread);
    Reader *reader = &readers[thread];
    if (reader->left == 0) {
        uint64_t distance = next_number(reader);
        if (distance == NEVER) {
            lost++;
            return;
        }
        reader->at += distance;
        reader->left = next_number(reader);
    }
    for (int turn = 1; atomic_load(&global_clock) != reader->at && may_wait(turn); turn++) {
    }
    reader->at++;
    reader->left--;
    let_go_later(thread, dejavu_pass, NULL);
}

const Baseline dejavu_replayer = {"dejavu-replay", begin_readers, dejavu_access,
                                  ignore_sync,     settle,        tell_lost};

/* ---- JaRec ---- */

static _Atomic uint64_t next_clocks[MOST_THREADS][8]; /* of each thread's next event */
static int jarec_threads;

/* By one so many times, then by more, and so on. */
static uint64_t next_clock(Reader *reader)
{
    while (reader->left == 0) {
        uint64_t number = next_number(reader);
        if (number == NEVER) {
            return NEVER;
        }
        if (reader->next % 2 == 0) {
            return reader->at += number;
        }
        reader->left = number;
    }
    reader->left--;
    return ++reader->at;
}

static void jarec_begin(const char *path)
{
    begin_readers(path);
    for (int i = 0; i < MOST_THREADS; i++) {
        next_clocks[i][0] = next_clock(&readers[i]);
        jarec_threads = readers[i].numbers != NULL ? i + 1 : jarec_threads;
    }
}

static void jarec_pass(int thread)
{
    atomic_store(next_clocks[thread], next_clock(&readers[thread]));
}

static void jarec_access(int thread, uint64_t location, int is_write)
{
    (void)location, (void)is_write;
    settle(thread);
    uint64_t clock = next_clocks[thread][0];
    if (clock == NEVER) {
        lost++;
        return;
    }
    for (int i = 0; i < jarec_threads; i++) {
        for (int turn = 1; i != thread && atomic_load(next_clocks[i]) < clock && may_wait(turn);
             turn++) {
        }
    }
    let_go_later(thread, jarec_pass, NULL);
}

const Baseline jarec_replayer = {"jarec-replay", jarec_begin, jarec_access,
                                 ignore_sync,    settle,      tell_lost};

/* ---- LEAP and Stride ---- */

/* What is left of a field's vector: `clock` is thread + 1 of the present run, `count` its rest. For
   Stride `versions` counts writes, and of each version how many reads are still to come. */
typedef struct Field {
    uint64_t key;
    _Atomic uint64_t running, versions;
    const Numbers *vector;
    size_t next;
    uint64_t left;
    _Atomic uint32_t *reads;
    size_t most_versions;
    struct Field *chain;
} Field;

static Field *fields[CHAINS];

static Field *field_of(uint64_t number)
{
    Field **chain = &fields[number % CHAINS];
    for (Field *each = *chain; each != NULL; each = each->chain) {
        if (each->key == number) {
            return each;
        }
    }
    return NULL;
}

static void next_run(Field *field)
{
    const Numbers *vector = field->vector;
    int is_over = vector == NULL || field->next + 1 >= vector->count;
    field->left = is_over ? 0 : vector->at[field->next + 1];
    uint64_t running = is_over ? NEVER : vector->at[field->next] + 1;
    field->next += 2;
    atomic_store(&field->running, running);
}

static Field *make_field(uint64_t number)
{
    Field *field = field_of(number);
    if (field == NULL) {
        field = calloc(1, sizeof *field);
        field->key = number;
        field->vector = numbers_of(OF_FIELD(number), 0);
        field->chain = fields[number % CHAINS];
        fields[number % CHAINS] = field;
        next_run(field);
    }
    return field;
}

static void count_reads(Field *field, uint64_t version, uint64_t count)
{
    if (version >= field->most_versions) {
        size_t most = (version + 1) * 2;
        field->reads = realloc(field->reads, most * sizeof *field->reads);
        memset((void *)(field->reads + field->most_versions), 0,
               (most - field->most_versions) * sizeof *field->reads);
        field->most_versions = most;
    }
    field->reads[version] += (uint32_t)count;
}

static void vectors_begin(const char *path)
{
    begin_readers(path);
    for (size_t i = 0; i < CHAINS; i++) {
        for (Numbers *each = chains[i]; each != NULL; each = each->next) {
            if (each->about >> 62 == 1) {
                make_field(FIELD_OF(each->about));
            }
            else if (each->about >> 61 == 1) {
                uint64_t version = 0;
                for (size_t n = 0; n + 1 < each->count; n += 2) {
                    version += each->at[n];
                    count_reads(make_field(FIELD_OF(each->about)), version, each->at[n + 1]);
                }
            }
        }
    }
}

/* Until the vector has come to the thread; 0 if it never does. */
static int await_run(Field *field, int thread)
{
    uint64_t running;
    for (int turn = 1; (running = atomic_load(&field->running)) != (uint64_t)thread + 1; turn++) {
        if (running == NEVER) {
            lost++;
            return 0;
        }
        if (!may_wait(turn)) {
            return 0;
        }
    }
    return 1;
}

static void pass_run(int thread)
{
    Field *field = pending[thread].of;
    if (--field->left == 0) {
        next_run(field);
    }
}

static void leap_access(int thread, uint64_t location, int is_write)
{
    (void)is_write;
    Field *field = field_of(FIELD_OF(location));
    settle(thread);
    if (field == NULL) {
        lost++;
    }
    else if (await_run(field, thread)) {
        let_go_later(thread, pass_run, field);
    }
}

const Baseline leap_replayer = {"leap-replay", vectors_begin, leap_access,
                                ignore_sync,   settle,        tell_lost};

static void pass_version(int thread)
{
    Field *field = pending[thread].of;
    atomic_fetch_add(&field->versions, 1);
    pass_run(thread);
}

static void pass_read(int thread)
{
    atomic_fetch_sub((_Atomic uint32_t *)pending[thread].of, 1);
}

static void stride_write(Field *field, int thread)
{
    if (!await_run(field, thread)) {
        return;
    }
    uint64_t version = atomic_load(&field->versions);
    for (int turn = 1; version < field->most_versions && atomic_load(&field->reads[version]) > 0 &&
                       may_wait(turn);
         turn++) {
    }
    let_go_later(thread, pass_version, field);
}

static void stride_read(int thread, Field *field, Reader *reader, Numbers *numbers, size_t *next)
{
    if (reader->left == 0) {
        if (*next + 1 >= numbers->count) {
            lost++;
            return;
        }
        reader->at += numbers->at[*next];
        reader->left = numbers->at[*next + 1];
        *next += 2;
    }
    for (int turn = 1; atomic_load(&field->versions) != reader->at && may_wait(turn); turn++) {
    }
    reader->left--;
    let_go_later(thread, pass_read, (void *)&field->reads[reader->at]);
}

#define MOST_READ_FIELDS 4096

/* A thread's reads of a field: where it is in their stream. */
typedef struct {
    Numbers *numbers;
    size_t next;
    Reader reader;
} Reads;

static void stride_access(int thread, uint64_t location, int is_write)
{
    static __thread struct {
        uint64_t number;
        Reads *reads;
    } recent[MOST_READ_FIELDS];
    uint64_t number = FIELD_OF(location);
    Field *field = field_of(number);
    settle(thread);
    if (field == NULL) {
        lost++;
        return;
    }
    if (is_write) {
        stride_write(field, thread);
        return;
    }
    size_t place = number % MOST_READ_FIELDS, looked = 1;
    while (recent[place].reads != NULL && recent[place].number != number) {
        place = (place + 1) % MOST_READ_FIELDS;
        if (looked++ == MOST_READ_FIELDS) {
            fprintf(stderr, "a thread reads more than %d fields\n", MOST_READ_FIELDS);
            exit(2);
        }
    }
    if (recent[place].reads == NULL) {
        recent[place].number = number;
        recent[place].reads = calloc(1, sizeof(Reads));
        recent[place].reads->numbers = numbers_of(OF_READS(thread, number), 0);
    }
    Reads *reads = recent[place].reads;
    if (reads->numbers == NULL) {
        lost++;
        return;
    }
    stride_read(thread, field, &reads->reader, reads->numbers, &reads->next);
}

const Baseline stride_replayer = {"stride-replay", vectors_begin, stride_access,
                                  ignore_sync,     settle,        tell_lost};
