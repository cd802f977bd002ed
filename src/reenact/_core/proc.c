/* What the kernel says of this process and its threads, under /proc; read without allocating. */
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The text of a file of a thread's, empty if it cannot be read. */
void proc_read(pid_t tid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
}

/* What a thread does, by the kernel's letter for it; 0 if there is no such thread. */
char proc_state(pid_t tid)
{
    char text[512];
    proc_read(tid, "stat", text, sizeof text);
    const char *after_name = strrchr(text, ')');
    return after_name == NULL ? '\0' : after_name[2];
}

typedef struct {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
} Entry;

/* Calls each with every name in a directory; false as soon as it says so, or if there is none. */
bool proc_each(int directory_fd, bool (*each)(const char *name, void *given), void *given)
{
    char buffer[4096];
    long size = -1;
    bool all = lseek(directory_fd, 0, SEEK_SET) == 0;
    while (all && (size = syscall(SYS_getdents64, directory_fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; all && at < size; at += ((Entry *)(buffer + at))->size) {
            all = each(((Entry *)(buffer + at))->name, given);
        }
    }
    return all && size == 0;
}
