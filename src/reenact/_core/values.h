/* How outcomes of calls lie in the inputs: shared by values.c, which writes, and recalled.c. */
#ifndef REENACT_VALUES_H
#define REENACT_VALUES_H

#include "core.h"

enum Tag {
    TAG_NONE,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INTEGER,
    TAG_FLOAT,
    TAG_BYTES,
    TAG_TEXT,
    TAG_TUPLE,
    TAG_LIST,
    TAG_EXCEPTION,
    TAG_FILLED,    /* the bytes that were put into the caller's buffer; the result follows */
    TAG_PERFORMED, /* an outcome that is not kept: a replay performs the call */
    TAG_RECORD,    /* a struct sequence of a known type */
    TAG_DICT,
    TAG_LONG, /* an integer of any size, as little-endian bytes */
    TAG_BYTEARRAY,
    TAG_SIGNALLED, /* not yet an outcome: a signal's handler ran inside the call */
    TAG_SET,
    TAG_CALLED, /* nor is this: the call called the program back, with the value that follows */
};
enum { DEEPEST = 64 };

/* Types that outcomes may be instances of, by the names they have in recordings. */
const char *name_of_type(PyTypeObject *type);
PyTypeObject *type_of_name(const char *name);
Py_ssize_t field_count(PyTypeObject *type);

#endif
