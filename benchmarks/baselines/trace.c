/* The file of a trace: a name, then pieces of streams, each with what it is about and its length.
   Numbers have seven bits in a byte, the low ones first. Read by traces.py. */

#include "baselines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 128
#define MOST_ROOM (64 * 1024)
#define LONGEST_NUMBER 10

static FILE *file;
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *trouble;

static void write_all(const void *bytes, size_t size)
{
    if (file != NULL && fwrite(bytes, 1, size, file) != size) {
        trouble = strerror(errno);
    }
}

void trace_open(const char *path, const char *name)
{
    uint8_t length = (uint8_t)strlen(name);
    trouble = NULL;
    file = fopen(path, "wb");
    if (file == NULL) {
        trouble = strerror(errno);
    }
    write_all(&length, 1);
    write_all(name, length);
}

void trace_close(void)
{
    if (file != NULL && fclose(file) != 0) {
        trouble = strerror(errno);
    }
    file = NULL;
}

const char *trace_trouble(void)
{
    return trouble;
}

static void write_piece(Stream *stream)
{
    pthread_mutex_lock(&file_lock);
    write_all(&stream->about, sizeof stream->about);
    write_all(&stream->used, sizeof stream->used);
    write_all(stream->bytes, stream->used);
    pthread_mutex_unlock(&file_lock);
    stream->used = 0;
}

static void make_room(Stream *stream)
{
    if (stream->room == MOST_ROOM) {
        write_piece(stream);
        return;
    }
    uint32_t room = stream->room ? stream->room * 2 : LEAST_ROOM;
    uint8_t *bytes = realloc(stream->bytes, room);
    if (bytes == NULL) {
        abort();
    }
    stream->bytes = bytes;
    stream->room = room;
}

void stream_put(Stream *stream, uint64_t number)
{
    if (stream->room - stream->used < LONGEST_NUMBER) {
        make_room(stream);
    }
    while (number >= 0x80) {
        stream->bytes[stream->used++] = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    stream->bytes[stream->used++] = (uint8_t)number;
}

void stream_close(Stream *stream)
{
    if (stream->used) {
        write_piece(stream);
    }
    free(stream->bytes);
    memset(stream, 0, sizeof *stream);
}
