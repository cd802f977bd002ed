/* Files: what the program reads is kept once, what it wrote itself is not.
 *
 * Opening a file of the outside world copies its contents into the recording, unless the same
 * contents are there already. A replay opens a scratch file instead, made from that copy, and all
 * that is done with the descriptor is really done, to the scratch file. Files are known by
 * device and inode, so that names, links and renames need not be imitated: a file that this run
 * wrote is the same scratch file when it is opened again. A file that somebody else changes
 * while it is read has its reads recorded one by one from then on. Files below certain
 * directories (the interpreter's and the installed packages') are opened as they are. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 1 << 16, MOST_BLOBS = 1 << 16, MOST_DESCRIPTORS = 4096, MOST_PREFIXES = 64 };

/* What an opened file holds as it is opened; part of the format. */
enum Contents {
    CONTENTS_OWN, /* what this run left in it */
    CONTENTS_EMPTY,
    CONTENTS_HOLE, /* something of a certain size, which cannot be read */
    CONTENTS_KEPT,
    CONTENTS_LIVE /* made as it is read, as in /proc: every read is recorded */
};

typedef struct {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
} Facts;

typedef struct {
    Facts facts;    /* as this run left it, or as it was copied; device 0: a free place */
    bool is_own;    /* this run wrote it */
    bool has_hole;  /* it holds more than this run wrote */
    bool is_shared; /* another process was started while it could be written through ours */
    int writers;
    uint64_t id;      /* names its scratch file */
    uint64_t kept_at; /* where its contents are in the stream, plus one */
    uint64_t filled;  /* replay: what its scratch file was filled with, plus one */
} File;

typedef struct {
    Facts facts;
    int file; /* place in files, plus one */
    bool writes;
    bool is_logged; /* its reads leave a word in the inputs */
} Opened;

/* Static: a recording and its replay must have their heaps to themselves. */
static File files[MOST_FILES];
static int file_count;
static uint64_t last_id;
static struct {
    uint64_t hash, at;
} blobs[MOST_BLOBS];
static int blob_count;
static Opened opened[MOST_DESCRIPTORS];
static struct {
    const char *text;
    size_t size;
} prefixes[MOST_PREFIXES];
static int prefix_count;
static int scratch_fd = -1;
static bool records_files = true;
static PyObject *opener;

/* ---- paths that are passed ---- */

static bool is_below(const char *path, size_t size)
{
    for (int i = 0; i < prefix_count; i++) {
        size_t length = prefixes[i].size;
        if (size >= length && memcmp(path, prefixes[i].text, length) == 0 &&
            (size == length || path[length] == '/')) {
            return true;
        }
    }
    return false;
}

bool files_are_below(const char *path)
{
    return is_below(path, strlen(path));
}

/* A path as it is given; what is relative belongs to the program. */
bool files_pass_path(PyObject *path)
{
    if (!records_files) {
        return !PyLong_Check(path);
    }
    Py_ssize_t size;
    if (PyUnicode_Check(path)) {
        const char *text = PyUnicode_AsUTF8AndSize(path, &size);
        if (text == NULL) {
            PyErr_Clear();
            return false;
        }
        return is_below(text, (size_t)size);
    }
    return PyBytes_Check(path) && is_below(PyBytes_AS_STRING(path), (size_t)PyBytes_GET_SIZE(path));
}

/* pass_paths(prefixes), or pass_paths(None) for all */
static PyObject *pass_paths(PyObject *module, PyObject *given)
{
    (void)module;
    records_files = given != Py_None;
    for (Py_ssize_t i = 0; records_files && i < PyTuple_GET_SIZE(given); i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(given, i));
        if (text == NULL) {
            return NULL;
        }
        if (prefix_count < MOST_PREFIXES) {
            prefixes[prefix_count].text = strdup(text);
            prefixes[prefix_count++].size = strlen(text);
        }
    }
    Py_RETURN_NONE;
}

/* ---- what is known of files ---- */

static Facts facts_of(const struct stat *found)
{
    return (Facts){found->st_dev, found->st_ino, found->st_size, found->st_mtim};
}

static bool is_same_file(const Facts *one, const Facts *other)
{
    return one->inode == other->inode && one->device == other->device;
}

static bool is_unchanged(const Facts *one, const Facts *other)
{
    return is_same_file(one, other) && one->size == other->size &&
           one->changed.tv_sec == other->changed.tv_sec &&
           one->changed.tv_nsec == other->changed.tv_nsec;
}

/* Its place, a new one if need be; -1 if there is no room. */
static int find_file(const Facts *facts)
{
    uint32_t place = (uint32_t)((facts->inode * 0x9E3779B97F4A7C15ULL + facts->device) >> 40);
    for (int i = 0; i < MOST_FILES; i++) {
        File *file = &files[(place + (uint32_t)i) % MOST_FILES];
        if (file->facts.device == 0) {
            if (file_count >= MOST_FILES / 2) {
                return -1;
            }
            file_count++;
            file->facts = *facts;
            file->id = ++last_id;
            return (int)(file - files);
        }
        if (is_same_file(&file->facts, facts)) {
            return (int)(file - files);
        }
    }
    return -1;
}

static Opened *opened_at(int fd)
{
    return fd >= 0 && fd < MOST_DESCRIPTORS ? &opened[fd] : NULL;
}

/* A process that is started may write to what is open for writing now. */
void files_share(void)
{
    for (int i = 0; i < MOST_DESCRIPTORS; i++) {
        if (opened[i].writes && opened[i].file > 0) {
            files[opened[i].file - 1].is_shared = true;
        }
    }
}

/* ---- contents ---- */

static uint64_t hash_bytes(const unsigned char *bytes, size_t size)
{
    uint64_t hash = size * 0x9E3779B97F4A7C15ULL;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9ULL;
        hash ^= hash >> 29;
    }
    for (; size > 0; bytes++, size--) {
        hash = (hash ^ *bytes) * 0x100000001B3ULL;
    }
    return hash == 0 ? 1 : hash;
}

static unsigned char *payload(void)
{
    return streams[STREAM_FILES].base + STREAM_HEADER;
}

/* The kept contents that begin at `at`: size, then bytes. */
static const unsigned char *kept_bytes(const unsigned char *at, uint64_t *size)
{
    memcpy(size, at, sizeof *size);
    return at + sizeof *size;
}

/* The same contents, kept before under another name; the new copy is then dropped again. */
static uint64_t deduplicate(const unsigned char *entry, size_t size)
{
    const unsigned char *bytes = entry + sizeof(uint64_t);
    uint64_t hash = hash_bytes(bytes, size), at = (uint64_t)(entry - payload());
    uint32_t place = (uint32_t)(hash >> 40) % MOST_BLOBS;
    for (; blobs[place].hash != 0; place = (place + 1) % MOST_BLOBS) {
        uint64_t other_size;
        const unsigned char *other = kept_bytes(payload() + blobs[place].at, &other_size);
        if (blobs[place].hash == hash && other_size == size && memcmp(other, bytes, size) == 0) {
            return blobs[place].at;
        }
    }
    if (blob_count < MOST_BLOBS / 2) {
        blob_count++;
        blobs[place].hash = hash;
        blobs[place].at = at;
    }
    return at;
}

/* Copies an open file into the recording; where it is there, or -1. One copy, in place. */
static int64_t keep_contents(int fd, off_t size)
{
    Stream *stream = &streams[STREAM_FILES];
    unsigned char *entry = stream_reserve(stream, sizeof(uint64_t) + (size_t)size);
    if (entry == NULL) {
        return -1;
    }
    uint64_t done = 0;
    while (done < (uint64_t)size) {
        ssize_t got = pread(fd, entry + sizeof done + done, (size_t)size - done, (off_t)done);
        if (got <= 0 && errno != EINTR) {
            break;
        }
        done += got > 0 ? (uint64_t)got : 0;
    }
    memcpy(entry, &done, sizeof done);
    uint64_t at = deduplicate(entry, done);
    if (at == (uint64_t)(entry - payload())) {
        stream_advance(stream, sizeof done + done);
    }
    return (int64_t)at;
}

/* A descriptor that may only write cannot be copied from. */
static int64_t keep_file(int fd, int flags, off_t size)
{
    if ((flags & O_ACCMODE) != O_WRONLY) {
        return keep_contents(fd, size);
    }
    return -1;
}

typedef struct {
    enum Contents contents;
    uint64_t argument; /* of a hole its size, of what is kept where it is, else is_logged */
} Holding;

static bool may_write(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY;
}

/* Whoever changes it while it is only read, and nobody here writes to it, is somebody else. */
static bool is_watched(int flags, const File *file)
{
    return !may_write(flags) && (file == NULL || file->writers == 0);
}

/* Whether reads leave a word in the inputs. */
static bool is_logged(const Holding *holding)
{
    return holding->contents == CONTENTS_KEPT || holding->contents == CONTENTS_LIVE ||
           (holding->contents != CONTENTS_HOLE && holding->argument != 0);
}

static bool is_live(int fd, int flags)
{
    char byte;
    return (flags & O_ACCMODE) == O_RDONLY && pread(fd, &byte, 1, 0) == 1;
}

static Holding holding_of(int fd, int flags, File *file, const Facts *facts)
{
    if (facts->size == 0 && is_live(fd, flags)) {
        return (Holding){CONTENTS_LIVE, 0};
    }
    if (facts->size == 0) {
        return (Holding){CONTENTS_EMPTY, is_watched(flags, file)};
    }
    bool is_ours = file != NULL && file->is_own && !file->is_shared && !file->has_hole;
    if (is_ours && (file->writers > 0 || is_unchanged(&file->facts, facts))) {
        return (Holding){CONTENTS_OWN, is_watched(flags, file)};
    }
    if (file != NULL && file->kept_at > 0 && is_unchanged(&file->facts, facts)) {
        return (Holding){CONTENTS_KEPT, file->kept_at - 1};
    }
    int64_t at = keep_file(fd, flags, facts->size);
    if (at < 0) {
        return (Holding){CONTENTS_HOLE, (uint64_t)facts->size};
    }
    if (file != NULL) {
        file->kept_at = (uint64_t)at + 1;
    }
    return (Holding){CONTENTS_KEPT, (uint64_t)at};
}

/* ---- opening ---- */

static void note_opened(int fd, int place, int flags, Facts facts, bool is_logged)
{
    Opened *entry = opened_at(fd);
    if (entry != NULL) {
        *entry = (Opened){facts, place + 1, may_write(flags), is_logged};
    }
}

static void note_regular(int fd, int flags, const struct stat *found)
{
    Stream *out = &streams[STREAM_INPUTS];
    Facts facts = facts_of(found);
    int place = find_file(&facts);
    File *file = place < 0 ? NULL : &files[place];
    Holding holding = holding_of(fd, flags, file, &facts);
    if (file != NULL) {
        file->facts = facts;
        file->writers += may_write(flags);
        file->is_own = may_write(flags) || (file->is_own && holding.contents == CONTENTS_OWN);
        file->has_hole = holding.contents == CONTENTS_HOLE;
        file->kept_at = may_write(flags) ? 0 : file->kept_at;
    }
    stream_varint(out, PLACE_FILE);
    stream_varint(out, file == NULL ? ++last_id : file->id);
    stream_varint(out, holding.contents);
    stream_varint(out, holding.argument);
    if (holding.contents == CONTENTS_LIVE) {
        facts.size = -1; /* like no other: what is read is never what it was */
    }
    note_opened(fd, place, flags, facts, is_logged(&holding));
}

static enum Place place_for(int fd, const struct stat *found)
{
    if (S_ISDIR(found->st_mode)) {
        return PLACE_DIRECTORY;
    }
    return lseek(fd, 0, SEEK_CUR) >= 0 ? PLACE_NULL : PLACE_SOCKET;
}

static PyObject *note_open(const Call *call, PyObject *result, int flags)
{
    struct stat found = {0};
    int fd = result == NULL ? -1 : (int)PyLong_AsLong(result);
    call_begin_input(call, INPUT_OUTCOME);
    call_keep(result, NULL);
    if (result == NULL) {
        return NULL;
    }
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
        note_regular(fd, flags, &found);
    }
    else {
        stream_varint(&streams[STREAM_INPUTS], place_for(fd, &found));
        note_opened(fd, -1, 0, facts_of(&found), false);
    }
    return result;
}

/* ---- opening again ---- */

static bool write_all(int fd, const unsigned char *bytes, uint64_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, bytes, size);
        if (done <= 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        size -= done > 0 ? (uint64_t)done : 0;
    }
    return true;
}

static bool fill_from_recording(int fd, uint64_t at)
{
    Cursor *cursor = &cursors[STREAM_FILES];
    uint64_t there = (uint64_t)(cursor->end - cursor->at), size;
    if (there < sizeof size || at > there - sizeof size) {
        return false;
    }
    const unsigned char *bytes = kept_bytes(cursor->at + at, &size);
    return size <= there - sizeof size - at && ftruncate(fd, 0) == 0 && write_all(fd, bytes, size);
}

static bool fill_scratch(int fd, const Holding *holding)
{
    switch (holding->contents) {
    case CONTENTS_OWN: return true;
    case CONTENTS_LIVE:
    case CONTENTS_EMPTY: return ftruncate(fd, 0) == 0;
    case CONTENTS_HOLE: return ftruncate(fd, (off_t)holding->argument) == 0;
    case CONTENTS_KEPT: return fill_from_recording(fd, holding->argument);
    default: return false;
    }
}

static void scratch_name(char *name, uint64_t place)
{
    int at = 31;
    name[at] = '\0';
    do {
        name[--at] = (char)('0' + place % 10);
        place /= 10;
    } while (place > 0);
    name[--at] = 'f';
    memmove(name, name + at, (size_t)(32 - at));
}

/* A replay knows files by the ids that the recording gave them. */
static int find_id(uint64_t id)
{
    uint32_t place = (uint32_t)(id * 0x9E3779B97F4A7C15ULL >> 40);
    for (int i = 0; i < MOST_FILES; i++) {
        File *file = &files[(place + (uint32_t)i) % MOST_FILES];
        if (file->id == id || (file->id == 0 && file_count < MOST_FILES / 2)) {
            file_count += file->id == 0;
            file->id = id;
            return (int)(file - files);
        }
    }
    return -1;
}

/* The scratch file that stands for a file; it keeps what it was filled with last. */
static int open_scratch(int flags, int *place, bool *has_log)
{
    Cursor *cursor = &cursors[STREAM_INPUTS];
    char name[32];
    uint64_t id = cursor_varint(cursor);
    Holding holding = {(enum Contents)cursor_varint(cursor), 0};
    holding.argument = cursor_varint(cursor);
    bool is_kept = holding.contents == CONTENTS_KEPT;
    *has_log = is_logged(&holding);
    *place = find_id(id);
    if (cursor->broken || id == 0) {
        return -1;
    }
    scratch_name(name, id);
    File nothing = {.id = id}, *file = *place < 0 ? &nothing : &files[*place];
    int fd = openat(scratch_fd, name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    bool is_there = is_kept && file->filled == holding.argument + 1;
    if (fd < 0 || (!is_there && !fill_scratch(fd, &holding))) {
        return -1;
    }
    close(fd);
    file->filled = is_kept && !may_write(flags) ? holding.argument + 1 : 0;
    int kept = O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC;
    return openat(scratch_fd, name, (flags & (O_ACCMODE | kept)) | O_CLOEXEC);
}

static PyObject *open_again(const Call *call, int flags)
{
    PyObject *result = NULL;
    int unused;
    call_take_input(call);
    if (value_take(NULL, &result, &unused) != KEPT) {
        replay_bad_input("a value that is damaged");
    }
    if (result == NULL) {
        return NULL; /* as it failed then */
    }
    Cursor *cursor = &cursors[STREAM_INPUTS];
    int number = PyLong_Check(result) ? (int)PyLong_AsLong(result) : -1;
    enum Place place = (enum Place)cursor_varint(cursor);
    bool has_log = false;
    int file = -1;
    int fd = place != PLACE_FILE ? descriptor_place(number, place)
                                 : descriptor_move(open_scratch(flags, &file, &has_log), number);
    struct stat found;
    if (cursor->broken || number < 0 || fd < 0 || fstat(fd, &found) < 0) {
        replay_bad_input("a file that cannot be opened");
    }
    if (!(flags & O_CLOEXEC)) {
        fcntl(fd, F_SETFD, 0);
    }
    note_opened(fd, file, flags, facts_of(&found), has_log);
    return result;
}

/* ---- the calls ---- */

static PyObject *open_path(const Call *call, Thread *thread, PyObject *path, int flags,
                           PyObject *const *args, size_t count, PyObject *names)
{
    (void)path;
    if (gate.settings.mode == MODE_REPLAY) {
        return open_again(call, flags);
    }
    return note_open(call, call_native(call, thread, args, count, names), flags);
}

static int flags_argument(PyObject *const *args, size_t count, PyObject *names)
{
    Py_ssize_t given = PyVectorcall_NARGS(count);
    PyObject *flags = given > 1 ? args[1] : NULL;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "flags") == 0) {
            flags = args[given + i];
        }
    }
    int overflow;
    return flags != NULL && PyLong_Check(flags) ? (int)PyLong_AsLongAndOverflow(flags, &overflow)
                                                : 0;
}

/* posix.open(path, flags, mode, dir_fd=...) */
PyObject *open_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    Py_ssize_t given = PyVectorcall_NARGS(count);
    if (thread == NULL || given < 1) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    PyObject *path = PyOS_FSPath(args[0]);
    if (path == NULL) {
        return NULL;
    }
    PyObject *changed[16];
    Py_ssize_t total = given + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    if (total > 16 || files_pass_path(path)) {
        Py_DECREF(path);
        return call_native(call, thread, args, count, names);
    }
    memcpy(changed, args, (size_t)total * sizeof *changed);
    changed[0] = path;
    PyObject *result = open_path(call, thread, path, flags_argument(args, count, names), changed,
                                 (size_t)given, names);
    Py_DECREF(path);
    return result;
}

static Opened *logged_file(int fd, struct stat *found)
{
    Opened *entry = opened_at(fd);
    bool is_shared = entry != NULL && entry->file > 0 && files[entry->file - 1].is_shared;
    if (entry == NULL || !(entry->is_logged || is_shared)) {
        return NULL;
    }
    Facts now = facts_of(found);
    return is_same_file(&entry->facts, &now) ? entry : NULL;
}

static PyObject *read_logged_again(const Call *call, Thread *thread, PyObject *const *args,
                                   size_t count, PyObject *names, int fd, Py_buffer *buffer)
{
    PyObject *result = NULL;
    int unused;
    call_take_input(call);
    enum Kept kept = value_take(buffer, &result, &unused);
    if (kept == KEPT_BROKEN || kept == KEPT_SIGNAL) {
        replay_bad_input("a value that is damaged");
    }
    if (kept == KEPT_NOT) {
        return call_native(call, thread, args, count, names);
    }
    Py_ssize_t moved = result == NULL          ? 0
                       : PyBytes_Check(result) ? PyBytes_GET_SIZE(result)
                       : PyLong_Check(result)  ? PyLong_AsSsize_t(result)
                                               : 0;
    if (!(call->flags & CALL_AT_OFFSET)) {
        lseek(fd, (off_t)moved, SEEK_CUR);
    }
    return result;
}

/* Asked after a read: whatever changed before or during it shows. */
static bool is_as_opened(int fd, const Opened *entry)
{
    struct stat found;
    Facts now = fstat(fd, &found) == 0 ? facts_of(&found) : (Facts){0};
    return is_unchanged(&entry->facts, &now);
}

static PyObject *read_logged(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                             PyObject *names, const Opened *entry)
{
    Py_buffer buffer;
    bool fills = call_buffer(call, args, count, &buffer);
    int fd = descriptor_of(call, args[0]);
    PyObject *result;
    if (gate.settings.mode == MODE_REPLAY) {
        result = read_logged_again(call, thread, args, count, names, fd, fills ? &buffer : NULL);
    }
    else {
        result = call_native(call, thread, args, count, names);
        call_begin_input(call, INPUT_OUTCOME);
        if (is_as_opened(fd, entry)) {
            value_put_performed();
        }
        else {
            call_keep(result, fills ? &buffer : NULL);
        }
    }
    if (fills) {
        PyBuffer_Release(&buffer);
    }
    return result;
}

/* Reads from regular files; all other reads are recorded. */
PyObject *read_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    struct stat found;
    if (thread == NULL || PyVectorcall_NARGS(count) < 1) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    if (fstat(descriptor_of(call, args[0]), &found) < 0 || !S_ISREG(found.st_mode)) {
        return recorded_call(self, args, count, names);
    }
    Opened *entry = logged_file(descriptor_of(call, args[0]), &found);
    if (entry == NULL) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    return read_logged(call, thread, args, count, names, entry);
}

/* What this run leaves in a file, so that it is known whether others changed it since. */
static void note_closing(int fd)
{
    Opened *entry = opened_at(fd);
    struct stat found;
    if (entry == NULL || entry->file == 0) {
        return;
    }
    File *file = &files[entry->file - 1];
    if (entry->writes && gate.settings.mode == MODE_RECORD && fstat(fd, &found) == 0) {
        Facts facts = facts_of(&found);
        if (is_same_file(&facts, &entry->facts)) {
            file->facts = facts;
            file->writers -= file->writers > 0;
        }
    }
    *entry = (Opened){.file = 0};
}

PyObject *close_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    if (gate.active && PyVectorcall_NARGS(count) > 0) {
        note_closing(descriptor_of(call, args[0]));
    }
    return PyObject_Vectorcall(call->native, args, count, names);
}

/* ---- _io.FileIO ---- */

static initproc native_init;

/* What posix.open comes to, for a path that is text, with the mode that FileIO gives. */
static PyObject *open_plainly(PyObject *path, int flags)
{
    PyObject *encoded;
    if (!PyUnicode_FSConverter(path, &encoded)) {
        return NULL;
    }
    int fd, error, failed;
    do {
        Py_BEGIN_ALLOW_THREADS;
        fd = open(PyBytes_AS_STRING(encoded), flags, 0666);
        error = fd < 0 ? errno : 0;
        Py_END_ALLOW_THREADS;
        failed = error == EINTR ? PyErr_CheckSignals() : 0;
    } while (error == EINTR && failed == 0);
    Py_DECREF(encoded);
    errno = error;
    return fd >= 0  ? PyLong_FromLong(fd)
           : failed ? NULL
                    : PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
}

/* open_for_file(path, flags): as FileIO opens, through the table's open */
static PyObject *open_for_file(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || opener == NULL) {
        PyErr_SetString(PyExc_TypeError, "open_for_file(path, flags)");
        return NULL;
    }
    Call *call = (Call *)opener;
    bool is_plain = PyUnicode_CheckExact(args[0]) && PyLong_CheckExact(args[1]);
    if (is_plain && call_thread() != NULL) {
        int flags = (int)PyLong_AsLong(args[1]);
        return gate.settings.mode == MODE_REPLAY
                   ? open_again(call, flags)
                   : note_open(call, open_plainly(args[0], flags), flags);
    }
    PyObject *mode = PyLong_FromLong(0666);
    PyObject *given[] = {args[0], args[1], mode};
    PyObject *result = mode == NULL ? NULL : PyObject_Vectorcall(opener, given, 3, NULL);
    Py_XDECREF(mode);
    return result;
}

static PyMethodDef open_definition = {"open_for_file", (PyCFunction)(void (*)(void))open_for_file,
                                      METH_FASTCALL, NULL};
static PyObject *file_opener;

/* FileIO(file, mode, closefd, opener): one that is opened by path gets our opener. */
static int init_file(PyObject *self, PyObject *args, PyObject *names)
{
    Thread *thread = gate_me();
    PyObject *file = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
    bool has_opener = (PyTuple_GET_SIZE(args) > 3 && PyTuple_GET_ITEM(args, 3) != Py_None) ||
                      (names != NULL && PyDict_GetItemString(names, "opener") != NULL);
    if (thread == NULL || file == NULL || has_opener || PyLong_Check(file) ||
        files_pass_path(file)) {
        return native_init(self, args, names);
    }
    PyObject *shorter = PyTuple_GetSlice(args, 0, 3);
    PyObject *changed = names == NULL ? PyDict_New() : PyDict_Copy(names);
    int result = -1;
    if (shorter != NULL && changed != NULL &&
        PyDict_SetItemString(changed, "opener", file_opener) == 0) {
        result = native_init(self, shorter, changed);
    }
    Py_XDECREF(shorter);
    Py_XDECREF(changed);
    return result;
}

/* patch_files(FileIO, posix.open as wrapped) */
static PyObject *patch_files(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *type;
    PyObject *call;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &type, &call)) {
        return NULL;
    }
    file_opener = PyCFunction_New(&open_definition, NULL);
    opener = Py_NewRef(call);
    native_init = type->tp_init;
    type->tp_init = init_file;
    Py_RETURN_NONE;
}

/* Where a replay keeps its scratch files. */
int files_begin(int directory_fd)
{
    scratch_fd = move_high(dup(directory_fd));
    return scratch_fd < 0 ? -1 : 0;
}

/* In a forked child, whose recording holds no contents yet; `base` keeps its new ids apart. */
void files_forget(uint64_t base)
{
    last_id = base;
    for (int i = 0; i < MOST_FILES; i++) {
        files[i].kept_at = files[i].filled = 0;
    }
    memset(blobs, 0, sizeof blobs);
    blob_count = 0;
}

PyMethodDef file_functions[] = {{"pass_paths", pass_paths, METH_O, NULL},
                                {"patch_files", patch_files, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
