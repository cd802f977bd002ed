/* What is known of files: shared by files.c, scratch.c and fileio.c. */
#ifndef REENACT_FILES_H
#define REENACT_FILES_H

#include "core.h"
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

enum { MOST_FILES = 1 << 16 };

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
    bool is_written_by_older; /* a descriptor that was opened before the epoch writes to it */
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
    bool is_older;  /* than the epoch, or others write to it who are: what is read is kept */
} Opened;

typedef struct {
    enum Contents contents;
    uint64_t argument; /* of a hole its size, of what is kept where it is, else is_logged */
} Holding;

extern File files[MOST_FILES];
extern int file_count;

/* files.c */
Facts facts_of(const struct stat *found);
bool is_same_file(const Facts *one, const Facts *other);
bool is_unchanged(const Facts *one, const Facts *other);
Opened *opened_at(int fd);
const unsigned char *kept_bytes(const unsigned char *at, uint64_t *size);
bool may_write(int flags);
bool is_logged(const Holding *holding);
void files_note_older(int fd, const Facts *facts);
void note_opened(int fd, int place, int flags, Facts facts, bool is_logged);
PyObject *note_open(const Call *call, PyObject *result, int flags);

/* scratch.c */
PyObject *open_again(const Call *call, int flags);
int files_scratch(int directory_fd);

#endif
