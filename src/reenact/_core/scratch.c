/* Opening files again: a replay's scratch files, filled from the recording. */
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int scratch_fd = -1;

/* Where a replay keeps its scratch files. */
int files_begin(int directory_fd)
{
    scratch_fd = move_high(dup(directory_fd));
    return scratch_fd < 0 ? -1 : 0;
}

/* The directory of scratch files from now on, if it is one; the one up to now. */
int files_scratch(int directory_fd)
{
    int before = scratch_fd;
    scratch_fd = directory_fd < 0 ? scratch_fd : directory_fd;
    return before;
}

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

/* It was empty as it was opened. Here another thread may have added to it by now, if nothing says
 * who came first: that stays. */
static bool is_written_since(const Holding *holding, int flags, const File *file)
{
    bool is_added_to = (flags & (O_APPEND | O_TRUNC | O_EXCL)) == O_APPEND;
    return gate.has_lanes && holding->contents == CONTENTS_EMPTY && is_added_to &&
           file->filled == 0;
}

/* The scratch file that stands for a file; it keeps what it was filled with last. */
static int open_scratch(int flags, int *place, bool *has_log)
{
    Cursor *cursor = inputs_cursor();
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
    bool is_there = (is_kept && file->filled == holding.argument + 1) ||
                    is_written_since(&holding, flags, file);
    if (fd < 0 || (!is_there && !fill_scratch(fd, &holding))) {
        return -1;
    }
    close(fd);
    file->filled = is_kept && !may_write(flags) ? holding.argument + 1 : 0;
    int kept = O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC;
    return openat(scratch_fd, name, (flags & (O_ACCMODE | kept)) | O_CLOEXEC);
}

PyObject *open_again(const Call *call, int flags)
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
    Cursor *cursor = inputs_cursor();
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
