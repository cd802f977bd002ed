/* Files: what the program reads is kept once, what it wrote itself is not.
 *
 * Opening a file of the outside world copies its contents into the recording, unless the same
 * contents are there already. A replay opens a scratch file instead, made from that copy, and all
 * that is done with the descriptor is really done, to the scratch file. Files are known by
 * device and inode, so that names, links and renames need not be imitated: a file that this run
 * wrote is the same scratch file when it is opened again. A file that somebody else changes
 * while it is read has its reads recorded one by one from then on. Files below certain
 * directories (the interpreter's and the installed packages') are opened as they are.
 *
 * Here: what is known of files, and opening them in a recording. scratch.c opens them again,
 * fileio.c has the calls, paths.c says which paths are passed. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BLOBS = 1 << 16, MOST_DESCRIPTORS = 4096 };

/* Static: a recording and its replay must have their heaps to themselves. */
File files[MOST_FILES];
int file_count;
static uint64_t last_id;
static Guard guard; /* threads of a parallel run open files at the same time */
static struct {
    uint64_t hash, at;
} blobs[MOST_BLOBS];
static int blob_count;
static Opened opened[MOST_DESCRIPTORS];

Facts facts_of(const struct stat *found)
{
    return (Facts){found->st_dev, found->st_ino, found->st_size, found->st_mtim};
}

bool is_same_file(const Facts *one, const Facts *other)
{
    return one->inode == other->inode && one->device == other->device;
}

bool is_unchanged(const Facts *one, const Facts *other)
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

Opened *opened_at(int fd)
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
const unsigned char *kept_bytes(const unsigned char *at, uint64_t *size)
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

bool may_write(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY;
}

static bool has_older_writer(const File *file)
{
    return file != NULL && file->is_written_by_older;
}

/* Whoever changes it while it is only read, and nobody here writes to it, is somebody else. So is
 * who writes through a descriptor from before the epoch: a replay has another file there. */
static bool is_watched(int flags, const File *file)
{
    return has_older_writer(file) || (!may_write(flags) && (file == NULL || file->writers == 0));
}

/* Whether reads leave a word in the inputs. */
bool is_logged(const Holding *holding)
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
    bool is_ours = file != NULL && file->is_own && !file->is_shared && !file->has_hole &&
                   !file->is_written_by_older;
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

void note_opened(int fd, int place, int flags, Facts facts, bool is_logged)
{
    Opened *entry = opened_at(fd);
    if (entry != NULL) {
        *entry = (Opened){facts, place + 1, may_write(flags), is_logged, false};
    }
}

static void note_regular(int fd, int flags, const struct stat *found)
{
    Stream *out = inputs_stream();
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
    if (has_older_writer(file) && opened_at(fd) != NULL) {
        opened_at(fd)->is_older = true;
    }
}

static enum Place place_for(int fd, const struct stat *found)
{
    if (S_ISDIR(found->st_mode)) {
        return PLACE_DIRECTORY;
    }
    return lseek(fd, 0, SEEK_CUR) >= 0 ? PLACE_NULL : PLACE_SOCKET;
}

PyObject *note_open(const Call *call, PyObject *result, int flags)
{
    struct stat found = {0};
    int fd = result == NULL ? -1 : (int)PyLong_AsLong(result);
    call_begin_input(call, INPUT_OUTCOME);
    call_keep(result, NULL);
    if (result == NULL) {
        return NULL;
    }
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) {
        compat_guard(&guard);
        note_regular(fd, flags, &found);
        compat_unguard(&guard);
    }
    else {
        stream_varint(inputs_stream(), place_for(fd, &found));
        note_opened(fd, -1, 0, facts_of(&found), false);
    }
    return result;
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

/* An epoch begins: what was kept is dropped, and files that this run wrote are like any others. */
void files_renew(void)
{
    for (int i = 0; i < MOST_FILES; i++) {
        files[i].kept_at = files[i].filled = 0;
        files[i].is_own = files[i].is_written_by_older = false;
    }
    memset(blobs, 0, sizeof blobs);
    blob_count = 0;
}

/* It is open as an epoch begins. Nobody knows what it will hold when the epoch is run again, so
 * what is read from it is kept. */
void files_note_older(int fd, const Facts *facts)
{
    Opened *entry = opened_at(fd);
    int place = may_write(fcntl(fd, F_GETFL)) ? find_file(facts) : -1;
    if (place >= 0) {
        files[place].is_written_by_older = true;
    }
    if (entry != NULL) {
        entry->facts = *facts;
        entry->is_older = true;
    }
}

/* A replay knows files by their ids alone, and none of them yet. */
void files_become_replay(void)
{
    memset(files, 0, sizeof files);
    file_count = 0;
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
        opened[fd].file = 0;
    }
    files_begin(forks_directory());
}
