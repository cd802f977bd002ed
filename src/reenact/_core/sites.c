/* Sites: the places in the program that perform operations, numbered as they are met.
 *
 * A site is an instruction of a code object together with the kind of operation, so that one
 * number in the log says what was done, how it came out, and on which line. Numbers are given
 * in order of first use, which is the same in a replay; each new site of a replay is compared
 * with the recorded one of that number. Code objects are kept alive: the address of an
 * instruction must keep meaning the same place. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RECORDED_SITES ((void *)0x2F0000000000ULL)
#define RECORDED_STRINGS ((void *)0x2F8000000000ULL)
#define RECORDED_ADDRESSES ((void *)0x2FC000000000ULL)
#define SITE_SPACE (1ULL << 36)
enum { MOST_SITES = 1 << 20 };

static Site *sites;
static uint32_t site_count = 1, site_room; /* site 0: nowhere */
static uint32_t *site_table, site_table_size;
static const char **strings;
static uint32_t string_count, string_room;
static uint32_t *string_table, string_table_size;
static uint32_t object_count;
static Guard guard; /* threads of a parallel run meet new sites at the same time */

typedef struct {
    const unsigned char *text;
    uint64_t size;
} RecordedString;
static Site *recorded;
static uint64_t recorded_count;
static RecordedString *recorded_strings;
static uint64_t recorded_string_count;
static uint64_t *recorded_addresses, recorded_address_count;

static void define_string(const char *text, size_t size)
{
    Stream *stream = &streams[STREAM_DEFINITIONS];
    stream_varint(stream, 1);
    stream_varint(stream, size);
    stream_bytes(stream, text, size);
}

static void define_site(const Site *site)
{
    Stream *stream = &streams[STREAM_DEFINITIONS];
    stream_varint(stream, 2);
    stream_varint(stream, site->kind);
    stream_varint(stream, site->file);
    stream_varint(stream, site->function);
    stream_varint(stream, site->line);
}

void define_object(Object *object, uint32_t site)
{
    compat_guard(&guard);
    object->id = ++object_count;
    if (gate.settings.mode == MODE_REPLAY) {
        bool moved = object->id <= recorded_address_count &&
                     recorded_addresses[object->id] != (uint64_t)(uintptr_t)object->key;
        if (moved && gate.state->moved == 0) {
            gate.state->moved = object->id;
        }
    }
    else {
        Stream *stream = &streams[STREAM_DEFINITIONS];
        stream_varint(stream, 3);
        stream_varint(stream, object->kind);
        stream_varint(stream, site);
        stream_varint(stream, (uint64_t)(uintptr_t)object->key);
    }
    compat_unguard(&guard);
}

void define_thread(Thread *thread)
{
    if (gate.settings.mode == MODE_RECORD) {
        Stream *stream = &streams[STREAM_DEFINITIONS];
        compat_guard(&guard);
        stream_varint(stream, 5);
        stream_varint(stream, (uint64_t)thread->index);
        stream_varint(stream, (uint64_t)thread->parent);
        stream_varint(stream, (uint64_t)thread->ordinal);
        compat_unguard(&guard);
    }
}

static void put_name(Stream *stream, const char *name)
{
    stream_varint(stream, strlen(name));
    stream_bytes(stream, name, strlen(name));
}

/* Names stand here, not among the strings: those are numbered as a replay numbers them. */
void site_define_module(const char *name)
{
    if (gate.settings.mode == MODE_RECORD) {
        Stream *stream = &streams[STREAM_DEFINITIONS];
        compat_guard(&guard);
        stream_varint(stream, 7);
        put_name(stream, name);
        compat_unguard(&guard);
    }
}

void site_define_call(uint32_t number, const char *name, bool opens)
{
    if (gate.settings.mode == MODE_RECORD) {
        Stream *stream = &streams[STREAM_DEFINITIONS];
        compat_guard(&guard);
        stream_varint(stream, 6);
        stream_varint(stream, number);
        stream_varint(stream, opens);
        put_name(stream, name);
        compat_unguard(&guard);
    }
}

static uint32_t hash_text(const char *text, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

static void place_string(uint32_t number)
{
    uint32_t slot = hash_text(strings[number], strlen(strings[number])) & (string_table_size - 1);
    while (string_table[slot] != 0) {
        slot = (slot + 1) & (string_table_size - 1);
    }
    string_table[slot] = number + 1;
}

static void grow_strings(void)
{
    string_room = string_room == 0 ? 512 : string_room * 2;
    strings = realloc(strings, string_room * sizeof *strings);
    string_table_size = string_room * 2;
    free(string_table);
    string_table = calloc(string_table_size, sizeof *string_table);
    for (uint32_t i = 0; i < string_count; i++) {
        place_string(i);
    }
}

uint32_t site_intern_string(const char *text, Py_ssize_t size)
{
    if (string_count == string_room) {
        grow_strings();
    }
    uint32_t slot = hash_text(text, (size_t)size) & (string_table_size - 1);
    for (; string_table[slot] != 0; slot = (slot + 1) & (string_table_size - 1)) {
        const char *known = strings[string_table[slot] - 1];
        if (strncmp(known, text, (size_t)size) == 0 && known[size] == '\0') {
            return string_table[slot] - 1;
        }
    }
    strings[string_count] = strndup(text, (size_t)size);
    if (gate.settings.mode == MODE_RECORD) {
        define_string(text, (size_t)size);
    }
    string_table[slot] = ++string_count;
    return string_count - 1;
}

const char *site_string(uint32_t number)
{
    return number < string_count ? strings[number] : "";
}

static uint32_t intern_unicode(PyObject *text)
{
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (utf8 == NULL) {
        PyErr_Clear();
        return site_intern_string("?", 1);
    }
    return site_intern_string(utf8, size);
}

enum { MOST_SOURCES = 4096 };
static struct {
    uint32_t path, digest;
} sources[MOST_SOURCES];
static uint32_t source_count;

static void define_source(uint32_t path, uint32_t digest)
{
    Stream *stream = &streams[STREAM_DEFINITIONS];
    stream_varint(stream, 4);
    stream_varint(stream, path);
    stream_varint(stream, digest);
}

void site_note_source(const char *path, const char *digest)
{
    uint32_t path_number = site_intern_string(path, (Py_ssize_t)strlen(path));
    uint32_t digest_number = site_intern_string(digest, (Py_ssize_t)strlen(digest));
    if (gate.settings.mode == MODE_RECORD) {
        define_source(path_number, digest_number);
    }
    if (source_count < MOST_SOURCES) {
        sources[source_count].path = path_number;
        sources[source_count++].digest = digest_number;
    }
}

/* An epoch begins with an empty log: what is known, but objects, is defined again. */
void sites_renew(void)
{
    for (uint32_t i = 0; i < string_count; i++) {
        define_string(strings[i], strlen(strings[i]));
    }
    for (uint32_t i = 1; i < site_count; i++) {
        define_site(&sites[i]);
    }
    for (uint32_t i = 0; i < source_count; i++) {
        define_source(sources[i].path, sources[i].digest);
    }
    for (uint32_t i = 1; i < gate.state->threads; i++) {
        if (gate.slots[i].status != ENDED) {
            define_thread(&gate.slots[i]);
        }
    }
}

static uint32_t site_slot(const void *instruction, uint32_t kind)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)instruction + kind) * 0x9E3779B97F4A7C15ULL;
    return (uint32_t)(mixed >> 32) & (site_table_size - 1);
}

static void place_site(uint32_t number)
{
    uint32_t slot = site_slot(sites[number].instruction, sites[number].kind);
    while (site_table[slot] != 0) {
        slot = (slot + 1) & (site_table_size - 1);
    }
    site_table[slot] = number;
}

static void grow_sites(void)
{
    site_room = site_room == 0 ? 1024 : site_room * 2;
    sites = realloc(sites, site_room * sizeof *sites);
    site_table_size = site_room * 4;
    free(site_table);
    site_table = calloc(site_table_size, sizeof *site_table);
    for (uint32_t i = 1; i < site_count; i++) {
        place_site(i);
    }
}

static uint32_t add_site(Site site)
{
    if (site_count >= MOST_SITES) {
        return 0;
    }
    if (site_count == site_room) {
        grow_sites();
    }
    sites[site_count] = site;
    place_site(site_count);
    if (gate.settings.mode == MODE_RECORD) {
        define_site(&site);
    }
    return site_count++;
}

static Site describe(PyCodeObject *code, Frame *frame, enum Operation kind)
{
    Site site = {.kind = kind};
    if (code == NULL) {
        site.file = site.function = site_intern_string("", 0);
        return site;
    }
    int line = PyCode_Addr2Line(code, compat_frame_offset(frame, code));
    site.code = (PyCodeObject *)Py_NewRef(code);
    site.instruction = compat_frame_call(frame);
    site.file = intern_unicode(code->co_filename);
    site.function = intern_unicode(code->co_qualname);
    site.line = line < 0 ? 0 : (uint32_t)line;
    return site;
}

static uint32_t find_or_add(PyCodeObject *code, Frame *frame, const void *instruction,
                            enum Operation kind)
{
    if (site_table == NULL) {
        grow_sites();
    }
    uint32_t slot = site_slot(instruction, kind);
    for (; site_table[slot] != 0; slot = (slot + 1) & (site_table_size - 1)) {
        const Site *site = &sites[site_table[slot]];
        if (site->instruction == instruction && site->kind == kind) {
            return site_table[slot];
        }
    }
    return add_site(describe(code, frame, kind));
}

/* The sites met lately, by instruction: a program repeats itself. */
static RecentSite recent_of_all[RECENT_SITES];

/* Threads that run at the same time have a table each. */
static inline RecentSite *recent_here(void)
{
    return gate.is_parallel && me != NULL ? me->lane.recent : recent_of_all;
}

/* Files of ours whose frames are no sites: what they do, their caller does. */
enum { MOST_HIDDEN = 16 };
static PyObject *hidden[MOST_HIDDEN];
static int hidden_count;

/* hide_frames(code): of the file that this code is of */
static PyObject *hide_frames(PyObject *module, PyObject *code)
{
    (void)module;
    if (!PyCode_Check(code) || hidden_count == MOST_HIDDEN) {
        PyErr_SetString(PyExc_ValueError, "hide_frames(code), of a few files");
        return NULL;
    }
    hidden[hidden_count++] = Py_NewRef(((PyCodeObject *)code)->co_filename);
    Py_RETURN_NONE;
}

PyMethodDef site_functions[] = {{"hide_frames", hide_frames, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static bool is_hidden(const PyCodeObject *code)
{
    for (int i = 0; i < hidden_count; i++) {
        if (code->co_filename == hidden[i]) {
            return true;
        }
    }
    return false;
}

static inline size_t recent_place(const void *instruction, enum Operation kind)
{
    return (((uintptr_t)instruction >> 1) + kind) & (RECENT_SITES - 1);
}

static inline bool is_recent(const RecentSite *recent, const void *instruction, enum Operation kind)
{
    return recent->instruction == instruction && recent->kind == kind && recent->site != 0;
}

static uint32_t __attribute__((noinline)) site_of(Frame *frame, enum Operation kind)
{
    PyCodeObject *code = NULL;
    while (frame != NULL && ((code = compat_frame_code(frame)) == NULL || is_hidden(code))) {
        frame = frame->previous;
    }
    code = frame == NULL ? NULL : code; /* called from C, at the end of the interpreter */
    const void *instruction = frame == NULL ? NULL : (const void *)compat_frame_call(frame);
    RecentSite *recent = recent_here() + recent_place(instruction, kind);
    if (!is_recent(recent, instruction, kind)) {
        compat_guard(&guard);
        recent->site = find_or_add(code, frame, instruction, kind);
        compat_unguard(&guard);
        recent->instruction = instruction;
        recent->kind = kind;
    }
    return recent->site;
}

/* Instructions of hidden frames are never met lately. */
uint32_t site_here(enum Operation kind)
{
    PyThreadState *tstate = compat_thread_state();
    Frame *frame = tstate == NULL ? NULL : compat_top_frame(tstate);
    const void *instruction = frame == NULL ? NULL : (const void *)compat_frame_call(frame);
    const RecentSite *recent = recent_here() + recent_place(instruction, kind);
    return frame != NULL && is_recent(recent, instruction, kind) ? recent->site
                                                                 : site_of(frame, kind);
}

const Site *site_get(uint32_t number)
{
    static const Site nowhere;
    return number > 0 && number < site_count ? &sites[number] : &nowhere;
}

/* Room for what a recording defines, away from the program's heap: a recorded run did not
 * allocate it. Untouched pages cost nothing. */
static void *reserve(void *at, uint64_t size)
{
    munmap(at, SITE_SPACE); /* of a parent process, in its forked child */
    return mmap(at, size == 0 ? 1 : size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static void read_string(Cursor *cursor)
{
    uint64_t size = cursor_varint(cursor);
    if (size > (uint64_t)(cursor->end - cursor->at)) {
        cursor->broken = true;
        return;
    }
    recorded_strings[recorded_string_count++] = (RecordedString){cursor->at, size};
    cursor->at += size;
}

static void read_site(Cursor *cursor)
{
    Site *site = &recorded[++recorded_count];
    site->kind = (uint32_t)cursor_varint(cursor);
    site->file = (uint32_t)cursor_varint(cursor);
    site->function = (uint32_t)cursor_varint(cursor);
    site->line = (uint32_t)cursor_varint(cursor);
}

static void skip(Cursor *cursor, int fields)
{
    while (fields-- > 0) {
        cursor_varint(cursor);
    }
}

static void skip_name(Cursor *cursor)
{
    uint64_t size = cursor_varint(cursor);
    bool fits = size <= (uint64_t)(cursor->end - cursor->at);
    cursor->broken |= !fits;
    cursor->at += fits ? size : 0;
}

static void read_definition(Cursor *cursor)
{
    switch (cursor_varint(cursor)) {
    case 1: read_string(cursor); break;
    case 2: read_site(cursor); break;
    case 3:
        skip(cursor, 2);
        recorded_addresses[++recorded_address_count] = cursor_varint(cursor);
        break;
    case 4: skip(cursor, 2); break;
    case 5: skip(cursor, 3); break;
    case 6:
        skip(cursor, 2);
        skip_name(cursor);
        break;
    case 7: skip_name(cursor); break;
    default: cursor->broken = true;
    }
}

static int reserve_recorded(uint64_t size, uint64_t objects)
{
    uint64_t addresses = size / 4 + objects + 2;
    recorded = reserve(RECORDED_SITES, (size / 5 + 2) * sizeof *recorded);
    recorded_strings = reserve(RECORDED_STRINGS, (size / 2 + 1) * sizeof *recorded_strings);
    recorded_addresses = reserve(RECORDED_ADDRESSES, addresses * sizeof *recorded_addresses);
    bool failed = recorded == MAP_FAILED || recorded_strings == MAP_FAILED ||
                  recorded_addresses == MAP_FAILED;
    return failed ? -1 : 0;
}

int sites_load_recorded(void)
{
    Cursor *cursor = &cursors[STREAM_DEFINITIONS];
    if (reserve_recorded((uint64_t)(cursor->end - cursor->at), 0) < 0) {
        return -1;
    }
    while (cursor->at < cursor->end && !cursor->broken) {
        read_definition(cursor);
    }
    return 0;
}

/* Numbers that were given before the log began. */
uint32_t sites_known(void)
{
    return site_count - 1;
}

/* In a copy of a process that records: objects that are defined in the log come after those that
 * are known. */
int sites_resume(void)
{
    Cursor *cursor = &cursors[STREAM_DEFINITIONS];
    uint64_t size = (uint64_t)(cursor->end - cursor->at);
    if (reserve_recorded(size, object_count) < 0) {
        return -1;
    }
    recorded_address_count = object_count;
    while (cursor->at < cursor->end && !cursor->broken) {
        read_definition(cursor);
    }
    return 0;
}

static const unsigned char *base_name(RecordedString text, uint64_t *size)
{
    const unsigned char *end = text.text + text.size, *start = end;
    while (start > text.text && start[-1] != '/') {
        start--;
    }
    *size = (uint64_t)(end - start);
    return start;
}

static bool same_text(uint32_t recorded_number, uint32_t number, bool base_only)
{
    if (recorded_number >= recorded_string_count) {
        return false;
    }
    RecordedString was = recorded_strings[recorded_number];
    const char *is = site_string(number);
    if (base_only) {
        was.text = base_name(was, &was.size);
        is = strrchr(is, '/') != NULL ? strrchr(is, '/') + 1 : is;
    }
    return was.size == strlen(is) && memcmp(was.text, is, was.size) == 0;
}

bool site_agrees(uint32_t number)
{
    if (number > recorded_count) {
        return false;
    }
    const Site *was = &recorded[number], *is = site_get(number);
    return was->kind == is->kind && was->line == is->line &&
           same_text(was->function, is->function, false) && same_text(was->file, is->file, true);
}

uint32_t site_recorded_kind(uint32_t number)
{
    return number >= 1 && number <= recorded_count ? recorded[number].kind : OP_NONE;
}

/* In a forked child: numbers begin anew. */
void sites_forget(void)
{
    site_count = 1;
    string_count = object_count = 0;
    recorded_count = recorded_string_count = recorded_address_count = 0;
    memset(recent_of_all, 0, sizeof recent_of_all);
    if (site_table != NULL) {
        memset(site_table, 0, site_table_size * sizeof *site_table);
    }
    if (string_table != NULL) {
        memset(string_table, 0, string_table_size * sizeof *string_table);
    }
}
