/* Recorders of others, in place of our own: for comparison, and for nothing else.
 *
 * benchmarks/baselines has the systems that the papers compare themselves with, each over one hook
 * that gets every access and every synchronisation. If REENACT_BASELINE names a library, one of its
 * recorders and a file, `LIBRARY:NAME:FILE`, a recording in parallel calls that one where it would
 * take note of something itself. What is then in the recording is of no use. */
#include "core.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* As in benchmarks/baselines/baselines.h. */
typedef struct {
    const char *name;
    void (*begin)(const char *path);
    void (*access)(int thread, uint64_t location, int is_write);
    void (*sync)(int thread, uint64_t object, int kind);
    void (*leave)(int thread);
    void (*end)(void);
} Baseline;
enum { FIELD_BITS = 24, ITEMS = 1, RECENT_NAMES = 64 };

bool baseline_is_on;
static const Baseline *baseline;

/* Exits if there is none: whoever asked for one measures. */
void baseline_open(void)
{
    const char *asked = getenv("REENACT_BASELINE");
    if (asked == NULL || !gate.is_parallel || gate.settings.mode != MODE_RECORD) {
        return;
    }
    char *library = strdup(asked), *name = strchr(library, ':');
    char *path = name == NULL ? NULL : strchr(name + 1, ':');
    if (path != NULL) {
        *name++ = *path++ = '\0';
        void *opened = dlopen(library, RTLD_NOW);
        const Baseline *(*find)(const char *, void (*)(int)) = NULL;
        *(void **)&find = opened == NULL ? NULL : dlsym(opened, "find_baseline_with");
        baseline = find == NULL ? NULL : find(name, parallel_pause);
    }
    if (baseline == NULL) {
        fprintf(stderr, "reenact: REENACT_BASELINE: %s\n", asked);
        _Exit(EXIT_UNUSABLE);
    }
    baseline->begin(path);
    free(library);
    baseline_is_on = true;
}

/* The same in each run: a number of the text. */
static uint64_t field_of(PyObject *name)
{
    static __thread struct {
        PyObject *name;
        uint64_t field;
    } recent[RECENT_NAMES];
    if (name == NULL) {
        return ITEMS;
    }
    size_t place = ((uintptr_t)name >> 5) % RECENT_NAMES;
    if (recent[place].name != name) {
        const char *text = PyUnicode_AsUTF8(name);
        uint32_t hash = 2166136261u;
        for (; text != NULL && *text != '\0'; text++) {
            hash = (hash ^ (unsigned char)*text) * 16777619u;
        }
        recent[place].name = name;
        recent[place].field = 2 + hash % ((1u << FIELD_BITS) - 2);
    }
    return recent[place].field;
}

void baseline_access(Thread *thread, PyObject *object, PyObject *name, bool writes)
{
    uint64_t location = ((uintptr_t)object >> 4) << FIELD_BITS | field_of(name);
    baseline->access(thread->index, location, writes);
    parallel_look_within(thread, 1); /* at the next point, what it keeps for the access is let go */
}

void baseline_leave(const Thread *thread)
{
    baseline->leave(thread->index);
}

void baseline_done(Thread *thread, enum Operation kind, const Object *object)
{
    uint64_t number = object == NULL ? 0 : (uintptr_t)object >> 4;
    baseline->sync(thread->index, number & ~(UINT64_C(1) << 63), (int)kind);
}

void baseline_close(void)
{
    baseline_is_on = false;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        baseline->leave((int)i); /* those that still run are not asked any more */
    }
    baseline->end();
}
