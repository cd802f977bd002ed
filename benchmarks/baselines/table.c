/* Entries by key. Chains only grow, at their heads: whoever looks needs no lock. A small cache of
   each thread stands for what a recorder inside a virtual machine has: the state next to the field.
 */

#include "baselines.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS (1 << 18)
#define CACHED 4096

static _Atomic(Entry *) chains[CHAINS];
static Entry **caches[MOST_THREADS];

static uint64_t mix(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 32;
}

static Entry *make(uint64_t key)
{
    Entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        abort();
    }
    entry->key = key;
    entry->stream.about = key;
    entry->last_thread = -1;
    pthread_mutex_init(&entry->lock, NULL);
    return entry;
}

static Entry *look(Entry *first, Entry *end, uint64_t key)
{
    for (Entry *entry = first; entry != end; entry = entry->next) {
        if (entry->key == key) {
            return entry;
        }
    }
    return NULL;
}

static Entry *find_or_make(uint64_t key, uint64_t mixed)
{
    _Atomic(Entry *) *chain = &chains[mixed % CHAINS];
    Entry *seen = atomic_load_explicit(chain, memory_order_acquire);
    Entry *found = look(seen, NULL, key);
    if (found != NULL) {
        return found;
    }
    Entry *made = make(key);
    made->next = seen;
    while (!atomic_compare_exchange_strong(chain, &made->next, made)) {
        found = look(made->next, seen, key);
        if (found != NULL) {
            pthread_mutex_destroy(&made->lock);
            free(made);
            return found;
        }
        seen = made->next;
    }
    return made;
}

Entry *table_find(int thread, uint64_t key)
{
    if (caches[thread] == NULL) {
        caches[thread] = calloc(CACHED, sizeof(Entry *));
        if (caches[thread] == NULL) {
            abort();
        }
    }
    uint64_t mixed = mix(key);
    Entry **place = &caches[thread][(mixed >> 40) % CACHED];
    if (*place == NULL || (*place)->key != key) {
        *place = find_or_make(key, mixed);
    }
    return *place;
}

void table_each(void (*visit)(Entry *))
{
    for (size_t i = 0; i < CHAINS; i++) {
        for (Entry *entry = chains[i]; entry != NULL; entry = entry->next) {
            visit(entry);
        }
    }
}

void table_clear(void)
{
    for (size_t i = 0; i < CHAINS; i++) {
        Entry *next;
        for (Entry *entry = chains[i]; entry != NULL; entry = next) {
            next = entry->next;
            free(entry->stream.bytes);
            pthread_mutex_destroy(&entry->lock);
            free(entry);
        }
        chains[i] = NULL;
    }
    for (size_t i = 0; i < MOST_THREADS; i++) {
        free(caches[i]);
        caches[i] = NULL;
    }
}

static struct {
    pthread_mutex_t *lock;
    char apart[56];
} held[MOST_THREADS];

void hold(int thread, pthread_mutex_t *lock)
{
    if (held[thread].lock != NULL) {
        pthread_mutex_unlock(held[thread].lock);
    }
    held[thread].lock = lock;
    for (int turn = 1; lock != NULL && pthread_mutex_trylock(lock) != 0; turn++) {
        baseline_pause(turn); /* whoever has it may wait for us in the interpreter */
    }
}

void hold_nothing(int thread)
{
    hold(thread, NULL);
}

void vector_add(Entry *entry, int thread)
{
    if (entry->last_thread != thread) {
        vector_close(entry);
        entry->last_thread = thread;
    }
    entry->count++;
}

void vector_close(Entry *entry)
{
    if (entry->count) {
        stream_put(&entry->stream, (uint64_t)entry->last_thread);
        stream_put(&entry->stream, entry->count);
    }
    entry->count = 0;
}
