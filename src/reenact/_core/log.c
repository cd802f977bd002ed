/* The streams of a recording as shared file maps, and the cursors that read them back.
 *
 * What was appended is in the page cache at once and survives the death of the process. Space is
 * reserved before it is mapped, so that a full disk is an error code here and not a SIGBUS. All
 * maps lie at fixed addresses far from the program's, so that the log never moves the program's
 * own memory. When the log cannot go on it stops, and the program does not notice. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAP_SPAN (1ULL << 36)
#define STATE_PLACE 15
#define CURSOR_PLACE 16
enum { FORMAT_VERSION = 3, FIRST_CHUNK = 1 << 16, LARGEST_CHUNK = 1 << 22, PAGE = 4096 };

static const char MAGIC[8] = "reenact";
static const char *const NAMES[STREAM_COUNT] = {NULL,     "schedule", "operations", "definitions",
                                                "clock",  "output",   "notes",      "outcome",
                                                "inputs", "files",    "lanes"};
Stream streams[STREAM_COUNT];
Cursor cursors[STREAM_COUNT];
static bool logging;
bool operations_are_kept = true;
static int64_t last_entry_step;
static int state_fd = -1;
static size_t state_mapped;
static size_t cursor_mapped[STREAM_COUNT];
static struct {
    int32_t thread;
    uint32_t object;
    int64_t step;
} last_operation;

static void *place(int number)
{
    return (void *)(MAPS_FROM + MAP_SPAN * (uint64_t)number);
}

bool log_is_on(void)
{
    return logging;
}

void log_stop(int error)
{
    if (logging && error != 0 && gate.state != NULL) {
        gate.state->log_errno = error;
    }
    logging = false;
}

/* Reserve and map the next piece of a file; returns errno. Copies of a process that somebody
 * travels through must each have their own. */
static int map_more(int fd, void *base, size_t mapped, size_t size)
{
    if (checkpoint_is_on() && gate.settings.mode == MODE_REPLAY) {
        void *at = mmap((char *)base + mapped, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        return at == MAP_FAILED ? errno : 0;
    }
    int error = posix_fallocate(fd, (off_t)mapped, (off_t)size);
    if (error != 0) {
        return error;
    }
    void *at = mmap((char *)base + mapped, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED_NOREPLACE, fd, (off_t)mapped);
    return at == MAP_FAILED ? errno : 0;
}

/* What was written long ago stays in the file, and need not stay in this process's memory. The
 * first page holds the stream's header. */
static void let_go(Stream *stream)
{
    madvise(stream->base + PAGE, stream->mapped - PAGE, MADV_DONTNEED);
}

static int stream_grow(Stream *stream)
{
    size_t size = stream->mapped < FIRST_CHUNK ? FIRST_CHUNK : stream->mapped;
    size = size > LARGEST_CHUNK ? LARGEST_CHUNK : size;
    int error = stream->mapped + size > MAP_SPAN
                    ? EFBIG
                    : map_more(stream->fd, stream->base, stream->mapped, size);
    if (error != 0) {
        log_stop(error);
        errno = error;
        return -1;
    }
    if (stream->mapped >= LARGEST_CHUNK && gate.settings.mode == MODE_RECORD) {
        let_go(stream);
    }
    stream->mapped += size;
    stream->end = stream->base + stream->mapped;
    return 0;
}

static void stream_commit(Stream *stream)
{
    if (stream->is_lane) {
        *(uint32_t *)(stream->base + 8) = (uint32_t)(stream->at - stream->base);
        return;
    }
    *(uint64_t *)(stream->base + 16) = (uint64_t)(stream->at - stream->base - STREAM_HEADER);
}

/* Descriptors of ours are kept out of the way: the program's own numbers must not depend on how
 * many of them there are. */
int move_high(int fd)
{
    struct rlimit limit;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        return fd;
    }
    int lowest = limit.rlim_cur > FIRST_OF_OURS + 64 ? FIRST_OF_OURS : (int)limit.rlim_cur - 64;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, lowest > fd ? lowest : fd);
    if (high < 0) {
        return fd;
    }
    close(fd);
    return high;
}

static int open_at(int directory_fd, const char *name)
{
    return move_high(openat(directory_fd, name, O_CREAT | O_RDWR | O_CLOEXEC | O_TRUNC, 0600));
}

static int stream_open(int directory_fd, int number)
{
    Stream *stream = &streams[number];
    stream->fd = open_at(directory_fd, NAMES[number]);
    stream->base = place(number);
    if (stream->fd < 0 || stream_grow(stream) < 0) {
        return -1;
    }
    memcpy(stream->base, MAGIC, sizeof MAGIC);
    *(uint32_t *)(stream->base + 8) = FORMAT_VERSION;
    *(uint32_t *)(stream->base + 12) = (uint32_t)number;
    stream->at = stream->base + STREAM_HEADER;
    return 0;
}

/* A replay writes only what is compared or reported afterwards. Lanes are the parallel engine's. */
static bool is_written(int number, enum Mode mode)
{
    if (number == STREAM_LANES) {
        return mode == MODE_RECORD && gate.is_parallel;
    }
    return mode == MODE_RECORD || (number >= STREAM_OUTPUT && number <= STREAM_OUTCOME);
}

int log_open(int directory_fd, enum Mode mode)
{
    logging = true;
    for (int number = 1; number < STREAM_COUNT; number++) {
        if (is_written(number, mode) && stream_open(directory_fd, number) < 0) {
            return -1;
        }
    }
    last_entry_step = 0;
    return 0;
}

static bool has_room(Stream *stream, size_t size)
{
    while (stream->at + size > stream->end) {
        if (!logging || (stream->is_lane ? lane_grow(stream, size) : stream_grow(stream)) < 0) {
            return false;
        }
    }
    return true;
}

static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

void stream_varint(Stream *stream, uint64_t value)
{
    if (logging && has_room(stream, LONGEST_VARINT)) {
        stream->at = put_varint(stream->at, value);
        stream_commit(stream);
    }
}

void stream_zigzag(Stream *stream, int64_t value)
{
    stream_varint(stream, zigzag(value));
}

void stream_bytes(Stream *stream, const void *bytes, size_t size)
{
    if (logging && has_room(stream, size)) {
        memcpy(stream->at, bytes, size);
        stream->at += size;
        stream_commit(stream);
    }
}

/* Room for size bytes at the end of a stream, to be filled in place; NULL if there is none. */
unsigned char *stream_reserve(Stream *stream, size_t size)
{
    return logging && has_room(stream, size) ? stream->at : NULL;
}

void stream_advance(Stream *stream, size_t size)
{
    stream->at += size;
    stream_commit(stream);
}

void log_entry(enum EntryKind kind, uint64_t argument)
{
    Stream *stream = &streams[STREAM_SCHEDULE];
    if (!logging || !has_room(stream, 2 * LONGEST_VARINT)) {
        return;
    }
    int64_t step = gate_step();
    unsigned char *at = put_varint(stream->at, (uint64_t)(step - last_entry_step));
    stream->at = put_varint(at, argument << 3 | (uint64_t)kind);
    stream_commit(stream);
    last_entry_step = step;
}

/* One operation, relative to the one before it; see docs/format.md. */
void log_operation(uint32_t site, int32_t thread, uint32_t object, int64_t step)
{
    Stream *stream = &streams[STREAM_OPERATIONS];
    if (!logging || !has_room(stream, 4 * LONGEST_VARINT)) {
        return;
    }
    bool has_thread = thread != last_operation.thread;
    bool has_object = object != last_operation.object;
    bool has_points = step - last_operation.step != 1;
    unsigned char *at =
        put_varint(stream->at, (uint64_t)site << 3 | (uint64_t)has_thread << 2 |
                                   (uint64_t)has_object << 1 | (uint64_t)has_points);
    if (has_thread) {
        at = put_varint(at, (uint64_t)thread);
    }
    if (has_object) {
        at = put_varint(at, zigzag((int64_t)object - (int64_t)last_operation.object));
    }
    if (has_points) {
        at = put_varint(at, (uint64_t)(step - last_operation.step));
    }
    stream->at = at;
    stream_commit(stream);
    last_operation.thread = thread;
    last_operation.object = object;
    last_operation.step = step;
}

void log_note_text(enum NoteKind kind, uint64_t value, int32_t thread, const char *text)
{
    Stream *stream = &streams[STREAM_NOTES];
    stream_varint(stream, kind);
    stream_varint(stream, (uint64_t)gate_step());
    stream_varint(stream, (uint64_t)thread);
    stream_varint(stream, value);
    stream_varint(stream, strlen(text));
    stream_bytes(stream, text, strlen(text));
}

void log_note(enum NoteKind kind, uint64_t value, int32_t thread)
{
    log_note_text(kind, value, thread, "");
}

/* Any thread may print, with the baton or without it. */
void log_output(int fd, const void *bytes, size_t size)
{
    static Guard guard;
    Stream *stream = &streams[STREAM_OUTPUT];
    compat_guard(&guard);
    stream_varint(stream, (uint64_t)fd);
    stream_varint(stream, size);
    stream_bytes(stream, bytes, size);
    compat_unguard(&guard);
}

int state_open(int directory_fd)
{
    state_fd = open_at(directory_fd, "state");
    if (state_fd < 0 || (errno = map_more(state_fd, place(STATE_PLACE), 0, FIRST_CHUNK)) != 0) {
        return -1;
    }
    state_mapped = FIRST_CHUNK;
    gate.state = place(STATE_PLACE);
    gate.slots = (Thread *)((char *)gate.state + STATE_HEADER);
    memcpy(gate.state->magic, MAGIC, sizeof MAGIC);
    gate.state->version = FORMAT_VERSION;
    gate.state->slot_size = sizeof(Thread);
    return 0;
}

/* Without a recording: plain memory, as much as there is need for. */
int state_open_anonymously(void)
{
    if (state_mapped > 0) {
        munmap(place(STATE_PLACE), state_mapped);
    }
    state_mapped = 1 << 26;
    void *at = mmap(place(STATE_PLACE), state_mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED) {
        state_mapped = 0;
        return -1;
    }
    gate.state = at;
    gate.slots = (Thread *)((char *)gate.state + STATE_HEADER);
    return 0;
}

/* Threads from this one on have ended, and their numbers are given again. */
void state_forget_slots(uint32_t first)
{
    for (uint32_t i = first; i < gate.state->threads; i++) {
        clock_free(gate.slots[i].clock);
    }
    memset(&gate.slots[first], 0, (gate.state->threads - first) * sizeof *gate.slots);
    gate.state->threads = first;
}

/* Where the file cannot grow the slots go on in plain memory: the run matters more. */
static void state_grow(void)
{
    int error = map_more(state_fd, gate.state, state_mapped, FIRST_CHUNK);
    if (error != 0) {
        log_stop(error);
        mmap((char *)gate.state + state_mapped, FIRST_CHUNK, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    state_mapped += FIRST_CHUNK;
}

Thread *state_new_slot(void)
{
    uint32_t index = gate.state->threads;
    while ((char *)&gate.slots[index + 1] > (char *)gate.state + state_mapped) {
        state_grow();
    }
    Thread *thread = &gate.slots[index];
    thread->index = (int32_t)index;
    thread->done.kind = OBJECT_THREAD;
    thread->done.id = index;
    thread->done.latest.thread = -1;
    thread->done.ends = -1;
    gate.state->threads++;
    return thread;
}

static int map_cursor(int directory_fd, int number)
{
    struct stat facts;
    int fd = openat(directory_fd, NAMES[number], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts) < 0 || facts.st_size < STREAM_HEADER) {
        return -1;
    }
    const unsigned char *base = mmap(place(CURSOR_PLACE + number), (size_t)facts.st_size, PROT_READ,
                                     MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    close(fd);
    if (base == MAP_FAILED || memcmp(base, MAGIC, sizeof MAGIC) != 0) {
        return -1;
    }
    cursor_mapped[number] = (size_t)facts.st_size;
    uint64_t room = (uint64_t)facts.st_size - STREAM_HEADER, used = *(uint64_t *)(base + 16);
    cursors[number].at = base + STREAM_HEADER;
    cursors[number].end = cursors[number].at + (used < room ? used : room);
    return 0;
}

int replay_map(int directory_fd)
{
    for (int number = 1; number < STREAM_COUNT; number++) {
        bool is_needed = number != STREAM_LANES || gate.is_parallel;
        if (is_needed && !is_written(number, MODE_REPLAY) && map_cursor(directory_fd, number) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- epochs ---- */

/* Bytes that were logged since the last epoch began. */
size_t log_size(void)
{
    size_t size = 0;
    for (int number = 1; number < STREAM_COUNT; number++) {
        size +=
            streams[number].mapped == 0 ? 0 : (size_t)(streams[number].at - streams[number].base);
    }
    return size;
}

/* What was logged is not needed any more: whoever goes back will go back to this step at most. */
void log_rewind(void)
{
    for (int number = 1; number < STREAM_COUNT; number++) {
        if (streams[number].mapped > 0) {
            streams[number].at = streams[number].base + STREAM_HEADER;
            stream_commit(&streams[number]);
        }
    }
}

/* In a copy of a process that records: memory that is shared with it becomes the copy's own. */
int state_become_private(void)
{
    void *copy =
        mmap(NULL, state_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return -1;
    }
    memcpy(copy, gate.state, state_mapped);
    void *at = mremap(copy, state_mapped, state_mapped, MREMAP_MAYMOVE | MREMAP_FIXED, gate.state);
    return at == MAP_FAILED ? -1 : 0;
}

static int stream_become_private(Stream *stream)
{
    munmap(stream->base, stream->mapped);
    stream->mapped = 0;
    stream->at = stream->end = stream->base;
    if (stream_grow(stream) < 0) {
        return -1;
    }
    stream->at = stream->base + STREAM_HEADER;
    return 0;
}

/* The copy reads what the process has logged since it was copied, and writes as replays do. */
int log_become_replay(void)
{
    for (int number = 1; number < STREAM_LANES; number++) {
        struct stat facts;
        Stream *stream = &streams[number];
        if (is_written(number, MODE_REPLAY)) {
            if (stream_become_private(stream) < 0) {
                return -1;
            }
            continue;
        }
        if (fstat(stream->fd, &facts) < 0) {
            return -1;
        }
        const unsigned char *base = mmap(place(CURSOR_PLACE + number), (size_t)facts.st_size,
                                         PROT_READ, MAP_SHARED | MAP_FIXED, stream->fd, 0);
        if (base == MAP_FAILED) {
            return -1;
        }
        cursor_mapped[number] = (size_t)facts.st_size;
        cursors[number].at = base + STREAM_HEADER;
        cursors[number].end = cursors[number].at + *(uint64_t *)(base + 16);
    }
    replay_resume(last_entry_step, last_operation.thread, last_operation.object,
                  last_operation.step);
    return sites_resume();
}

uint64_t cursor_varint(Cursor *cursor)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
        unsigned char byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    cursor->broken = true;
    return 0;
}

int64_t cursor_zigzag(Cursor *cursor)
{
    uint64_t value = cursor_varint(cursor);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* In a forked child: the parent's maps are let go, for its own to take their places. */
void log_leave(void)
{
    for (int number = 1; number < STREAM_COUNT; number++) {
        if (streams[number].mapped > 0) {
            munmap(streams[number].base, streams[number].mapped);
            close(streams[number].fd);
        }
        if (cursor_mapped[number] > 0) {
            munmap(place(CURSOR_PLACE + number), cursor_mapped[number]);
        }
        streams[number] = (Stream){.fd = -1};
        cursors[number] = (Cursor){.broken = false};
        cursor_mapped[number] = 0;
    }
    munmap(gate.state, state_mapped);
    close(state_fd);
    memset(&last_operation, 0, sizeof last_operation);
}
