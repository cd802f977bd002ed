/* Files and shared memory of a copied process: positions, scratch files and maps of its own.
 *
 * A copy shares open files with the process that it was copied from. Each regular file is opened
 * again, at the same position and under the same number; scratch files are copied first, into a
 * directory of the copy's. Maps that are shared and can be written to are made again, too. A copy
 * that an epoch begins with does so as soon as it is made, since its process goes on, closes,
 * overwrites and unlinks what it likes. Nothing here allocates. */
#include "files.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };
#define ENOUGH_FOR_ALL ((off_t)1 << 62)

/* Where files were, and how long, when a process that records was copied: it has gone on since. */
static struct {
    bool is_known;
    off_t position;
    Facts facts;
} noted[FIRST_OF_OURS];

static int root_fd = -1; /* where the first process had its scratch files */
static char old_path[PATH_SIZE];

typedef bool (*Each)(const char *name, void *unused);
static void make_maps_private(void);

static bool is_regular(const char *name, int *fd, struct stat *found)
{
    *fd = atoi(name);
    return name[0] >= '0' && name[0] <= '9' && *fd < FIRST_OF_OURS && fstat(*fd, found) == 0 &&
           S_ISREG(found->st_mode);
}

static bool note_position(const char *name, void *unused)
{
    (void)unused;
    struct stat found;
    int fd;
    if (is_regular(name, &fd, &found)) {
        noted[fd].is_known = true;
        noted[fd].position = lseek(fd, 0, SEEK_CUR);
        noted[fd].facts = facts_of(&found);
    }
    return true;
}

static void each_descriptor(Each each)
{
    int numbers = move_high(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    proc_each(numbers, each, NULL);
    close(numbers);
}

static void put_in_place(int anew, int fd)
{
    dup3(anew, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
}

/* The same file, with a position and locks of its own. */
static int open_same(int fd)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int flags = fcntl(fd, F_GETFL) & ~(O_CREAT | O_EXCL | O_TRUNC);
    int anew = open(link, flags | O_CLOEXEC);
    if (anew >= 0 && noted[fd].is_known) {
        lseek(anew, noted[fd].position, SEEK_SET);
    }
    return anew;
}

static int stand_in;

static bool let_go(const char *name, void *unused)
{
    (void)unused;
    int fd = atoi(name);
    struct stat found;
    if (name[0] < '0' || name[0] > '9' || fd >= FIRST_OF_OURS || fstat(fd, &found) < 0 ||
        S_ISDIR(found.st_mode) || (S_ISCHR(found.st_mode) && !isatty(fd))) {
        return true;
    }
    int anew = S_ISREG(found.st_mode) ? open_same(fd) : dup(stand_in);
    if (anew >= 0) {
        put_in_place(anew, fd);
        close(anew);
    }
    return true;
}

/* In a copy of a process that records: sockets, pipes and the like are the process's alone, so that
 * their other ends see it when it closes them; what it does with them is in the log. So are locks
 * on files, which the process gives back by closing. */
void files_let_go(void)
{
    stand_in = move_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    each_descriptor(let_go);
    close(stand_in);
    make_maps_private();
}

/* Before a process that records is copied. */
void files_note_positions(void)
{
    memset(noted, 0, sizeof noted);
    each_descriptor(note_position);
}

/* After that, in the process and in the copy alike. */
void files_mark_older(void)
{
    for (int fd = 0; fd < FIRST_OF_OURS; fd++) {
        if (noted[fd].is_known) {
            files_note_older(fd, &noted[fd].facts);
        }
    }
}

static int from_fd, to_fd;

static void copy_file(int from, int to, off_t most)
{
    char buffer[1 << 16];
    ssize_t size;
    while (from >= 0 && to >= 0 && most > 0 && (size = read(from, buffer, sizeof buffer)) > 0) {
        if (write(to, buffer, (size_t)size) != size) {
            _exit(EXIT_UNUSABLE); /* no room: this copy would not be one */
        }
        most -= size;
    }
    close(from);
    close(to);
}

static bool copy_scratch(const char *name, void *unused)
{
    (void)unused;
    if ((name[0] == 'f' || name[0] == 'w') && name[1] >= '0' && name[1] <= '9') {
        copy_file(openat(from_fd, name, O_RDONLY | O_CLOEXEC),
                  openat(to_fd, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600),
                  ENOUGH_FOR_ALL);
    }
    return true;
}

/* A file as long as it was when the process was copied. What the program reads from it is in the
 * log (fileio.c); what it holds is only seen by those who map it into memory, or read it by means
 * that nobody declared. */
static int open_stand_in(int fd, int flags, const char *link)
{
    char name[32];
    off_t size = noted[fd].facts.size;
    bool is_read = (flags & O_ACCMODE) != O_WRONLY;
    snprintf(name, sizeof name, "w%d", fd);
    int to = openat(to_fd, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (to < 0 || ftruncate(to, size) < 0) {
        _exit(EXIT_UNUSABLE);
    }
    copy_file(is_read ? open(link, O_RDONLY | O_CLOEXEC) : -1, to, size);
    int anew = openat(to_fd, name, flags | O_CLOEXEC);
    if (anew >= 0 && may_write(flags) && ftruncate(anew, size) < 0) {
        _exit(EXIT_UNUSABLE);
    }
    return anew;
}

static bool has_changed(int fd)
{
    struct stat found;
    Facts now = fstat(fd, &found) == 0 ? facts_of(&found) : (Facts){0};
    return !is_unchanged(&noted[fd].facts, &now);
}

/* A descriptor of the same file with a position of its own, -1 if it need not or cannot be had. */
static int open_anew(int fd, int flags, const char *link)
{
    char path[PATH_SIZE];
    ssize_t size = readlink(link, path, sizeof path - 1);
    size_t prefix = strlen(old_path);
    path[size > 0 ? size : 0] = '\0';
    bool is_scratch = strncmp(path, old_path, prefix) == 0 && path[prefix] == '/';
    bool is_another = noted[fd].is_known && (may_write(flags) || has_changed(fd));
    int anew = is_scratch   ? openat(to_fd, path + prefix + 1, flags | O_CLOEXEC)
               : is_another ? open_stand_in(fd, flags, link)
                            : open(link, flags | O_CLOEXEC);
    if (anew >= 0) {
        lseek(anew, noted[fd].is_known ? noted[fd].position : lseek(fd, 0, SEEK_CUR), SEEK_SET);
    }
    noted[fd].is_known = false;
    return anew;
}

static bool make_private(const char *name, void *unused)
{
    (void)unused;
    struct stat found;
    char link[64];
    int fd;
    if (!is_regular(name, &fd, &found)) {
        return true;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int flags = fcntl(fd, F_GETFL) & ~(O_CREAT | O_EXCL | O_TRUNC);
    int anew = open_anew(fd, flags, link);
    if (anew < 0) {
        return true;
    }
    put_in_place(anew, fd);
    close(anew);
    Opened *entry = opened_at(fd);
    Facts before = facts_of(&found);
    if (entry != NULL && fstat(fd, &found) == 0 && is_same_file(&entry->facts, &before)) {
        entry->facts.device = found.st_dev;
        entry->facts.inode = found.st_ino;
    }
    return true;
}

/* ---- maps ---- */

typedef struct {
    char *at;
    size_t size;
    uint64_t offset;
    const char *path;
} Map;

/* Memory with the same contents takes the place of a map. */
static bool copy_map(const Map *map)
{
    void *anew = mmap(NULL, map->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (anew == MAP_FAILED) {
        return false;
    }
    memcpy(anew, map->at, map->size);
    return mremap(anew, map->size, map->size, MREMAP_MAYMOVE | MREMAP_FIXED, map->at) == map->at;
}

static bool map_scratch(const Map *map, const char *name)
{
    int fd = openat(to_fd, name, O_RDWR | O_CLOEXEC);
    void *at = mmap(map->at, map->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                    (off_t)map->offset);
    close(fd);
    return at == map->at;
}

/* One line of /proc/self/maps: from-to rw.s offset device inode path */
static void make_map_private(char *line)
{
    char *rest;
    Map map = {.at = (char *)strtoull(line, &rest, 16)};
    map.size = (size_t)((char *)strtoull(rest + 1, &rest, 16) - map.at);
    bool is_ours = (uintptr_t)map.at >= MAPS_FROM && (uintptr_t)map.at < MAPS_TO; /* the log's */
    if (is_ours || rest[1] != 'r' || rest[2] != 'w' || rest[4] != 's') {
        return;
    }
    map.offset = strtoull(rest + 5, &rest, 16);
    map.path = strchr(rest, '/');
    size_t prefix = strlen(old_path);
    bool is_scratch = map.path != NULL && prefix > 0 && strncmp(map.path, old_path, prefix) == 0 &&
                      map.path[prefix] == '/';
    if (!(is_scratch ? map_scratch(&map, map.path + prefix + 1) : copy_map(&map))) {
        _exit(EXIT_UNUSABLE);
    }
}

static void make_maps_private(void)
{
    static char text[2 * PATH_SIZE + 1];
    size_t filled = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, text + filled, sizeof text - 1 - filled)) > 0) {
        char *line = text, *end;
        text[filled += (size_t)got] = '\0';
        for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            make_map_private(line);
        }
        filled = (size_t)(text + filled - line);
        memmove(text, line, filled);
    }
    close(fd);
}

/* In a copy, before anything else. */
void files_become_private(void)
{
    char name[32], link[64];
    int scratch = files_scratch(-1);
    if (scratch < 0) {
        return;
    }
    root_fd = root_fd < 0 ? scratch : root_fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", scratch);
    ssize_t size = readlink(link, old_path, sizeof old_path - 1);
    old_path[size > 0 ? size : 0] = '\0';
    snprintf(name, sizeof name, "c%d", getpid());
    mkdirat(root_fd, name, 0700);
    from_fd = scratch;
    to_fd = move_high(openat(root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (to_fd < 0) {
        _exit(EXIT_UNUSABLE);
    }
    proc_each(from_fd, copy_scratch, NULL);
    each_descriptor(make_private);
    make_maps_private();
    files_scratch(to_fd);
    if (from_fd != root_fd) {
        close(from_fd);
    }
}
