/* Loaded before the C library (LD_PRELOAD): makes this system look like one where processes cannot
 * be copied. LD_ELSEWHERE says which: libc, shadow-stacks, proc, permission, or alone, where no
 * process can be forked at all. Replays take variables
 * of this kind from whoever starts them, and all others from the recording. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_in(const char *world)
{
    const char *given = getenv("LD_ELSEWHERE");
    return given != NULL && strcmp(given, world) == 0;
}

/* Another C library does not say that it is glibc. */
size_t confstr(int name, char *text, size_t size)
{
    size_t (*real)(int, char *, size_t) = dlsym(RTLD_NEXT, "confstr");
    return name == _CS_GNU_LIBC_VERSION && is_in("libc") ? 0 : real(name, text, size);
}

int access(const char *path, int mode)
{
    int (*real)(const char *, int) = dlsym(RTLD_NEXT, "access");
    if (is_in("proc") && strncmp(path, "/proc/", 6) == 0) {
        errno = EACCES;
        return -1;
    }
    return real(path, mode);
}

/* What the kernel says of a thread, and one line more. */
static int with_shadow_stack(int status)
{
    static const char line[] = "x86_Thread_features:\tshstk \n";
    char text[8192];
    ssize_t size = read(status, text, sizeof text);
    int made = memfd_create("status", MFD_CLOEXEC);
    if (size > 0 && write(made, text, (size_t)size) == size && write(made, line, sizeof line - 1)) {
        lseek(made, 0, SEEK_SET);
    }
    close(status);
    return made;
}

static int open_as(const char *name, const char *path, int flags, int mode)
{
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    int opened = real(path, flags, mode);
    size_t size = strlen(path);
    int is_status = strncmp(path, "/proc/self/task/", 16) == 0 && size > 7 &&
                    strcmp(path + size - 7, "/status") == 0;
    return opened >= 0 && is_status && is_in("shadow-stacks") ? with_shadow_stack(opened) : opened;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        int mode = va_arg(more, int);                                                              \
        va_end(more);                                                                              \
        return open_as(#name, path, flags, mode);                                                  \
    }
OPEN(open)
OPEN(open64)

/* As a sandbox may have it: clone() makes no thread - glibc makes its own by clone3() - or nothing
 * but threads, and what is to become another program at once. */
__attribute__((constructor)) static void lose_permission(void)
{
    int is_alone = is_in("alone");
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, is_alone ? CLONE_VM : CLONE_THREAD, is_alone,
                 !is_alone),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (is_alone || is_in("permission")) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
            abort();
        }
    }
}
