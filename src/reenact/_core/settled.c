/* Settled attributes: those that no code sets which was loaded so far. To read one cannot race, so
 * that its sites sleep.
 *
 * The sites of a module are made before any of its code runs, and each says by its kind and name
 * what it may set. A constructor's stores to its own object have no sites and are no writes, unless
 * the object was known to others before; then the site of its creation tells them. So what only
 * constructors set is settled as well, as long as no code that was loaded could call a constructor
 * again (`x.__init__()`) or lets an object escape before a base's constructor gets it. Who sets an
 * attribute whose name is made up (`setattr(x, name, value)`) may set any.
 *
 * A site falls asleep when it has something to look up while threads could race, and wakes when its
 * attribute is set after all: as the code is loaded, before it runs. What was read until then is
 * known to nobody, and if such an attribute is written the result says so. */
#include "core.h"

struct Settled {
    PyObject *name; /* kept */
    Settled *next;
    AccessSite *asleep;
    bool is_set;
    bool is_given;  /* by constructors */
    bool was_read;  /* in this run, by sites that slept or were about to */
    bool is_missed; /* and written after that */
};

enum { CHAINS = 1 << 12 };
static Settled *chains[CHAINS];
static bool all_are_set, constructors_set;
static bool was_any_read;     /* in this run */
static uint32_t count_asleep; /* of sites */

#define FOR_EACH(each)                                                                             \
    for (int chain = 0; chain < CHAINS; chain++)                                                   \
        for (Settled *each = chains[chain]; each != NULL; each = each->next)

static Settled *find(PyObject *name)
{
    Settled *found = chains[((uintptr_t)name >> 4) % CHAINS];
    while (found != NULL && found->name != name) {
        found = found->next;
    }
    return found;
}

static Settled *find_or_add(PyObject *name)
{
    Settled *found = find(name);
    if (found == NULL) {
        Settled **chain = &chains[((uintptr_t)name >> 4) % CHAINS];
        found = take_memory(sizeof *found);
        *found = (Settled){.name = Py_NewRef(name), .next = *chain};
        *chain = found;
    }
    return found;
}

/* ---- waking ---- */

static void wake(Settled *settled)
{
    while (settled->asleep != NULL) {
        AccessSite *site = settled->asleep;
        settled->asleep = site->next_asleep;
        site->is_asleep = false;
        count_asleep--;
        site->own_version = NO_VERSION; /* to look something up at the next turn */
        plant_wake(site);
        Py_SET_TYPE(site, glance_type(site));
    }
}

/* Somebody else but the detector needs to be told. */
void settled_wake_all(void)
{
    if (count_asleep == 0) {
        return;
    }
    FOR_EACH(each)
    {
        wake(each);
    }
}

static void set(Settled *settled)
{
    if (!settled->is_set) {
        settled->is_set = true;
        wake(settled);
    }
}

static void set_all(void)
{
    all_are_set = true;
    FOR_EACH(each)
    {
        set(each);
    }
}

static void set_given(void)
{
    constructors_set = true;
    FOR_EACH(each)
    {
        if (each->is_given) {
            set(each);
        }
    }
}

/* ---- what sites say ---- */

static void give(PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        Settled *settled = find_or_add(PyTuple_GET_ITEM(names, i));
        settled->is_given = true;
        if (constructors_set) {
            set(settled);
        }
    }
}

static bool is_constructor(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__init__") == 0 ||
           PyUnicode_CompareWithASCIIString(name, "__post_init__") == 0;
}

static void meet_write(AccessSite *site)
{
    switch (site->kind) {
    case ACCESS_ATTRIBUTE:
    case ACCESS_GLOBAL:
        site->settled = find_or_add(site->name);
        set(site->settled);
        break;
    case ACCESS_NAMED:
        if (PyUnicode_GET_LENGTH(site->name) == 0) {
            set_all();
        }
        else {
            set(find_or_add(site->name));
        }
        break;
    case ACCESS_CREATED: set_all(); break;
    default: break;
    }
}

/* A site was made, and has all its fields. */
void settled_meet(AccessSite *site)
{
    if (site->writes) {
        meet_write(site);
    }
    else if (site->kind == ACCESS_ATTRIBUTE || (site->kind == ACCESS_METHOD && site->remembers)) {
        if (!site->recalls && !site->is_unbound) {
            site->settled = find_or_add(site->name);
        }
        if (is_constructor(site->name)) {
            set_given();
        }
    }
    if (site->kind == ACCESS_CREATED) {
        give(site->names);
    }
}

/* ---- sleeping ---- */

/* Is there nothing to learn from the site, now and until somebody sets its attribute? */
bool settled_sleeps(AccessSite *site)
{
    Settled *settled = site->settled;
    if (settled == NULL || settled->is_set || all_are_set || site->writes || site->code == NULL) {
        return false;
    }
    if (!site->is_asleep) {
        if (!site->is_kept) { /* the code has the site, and must stay where it is */
            site->is_kept = true;
            Py_INCREF(site->code);
        }
        site->is_asleep = true;
        count_asleep++;
        site->next_asleep = settled->asleep;
        settled->asleep = site;
        settled->was_read = was_any_read = true;
        Py_SET_TYPE(site, glance_type(site));
    }
    return true;
}

/* An attribute that others may know is written, and that is told. Nobody has read it of an object
 * that is being made for the first time. */
void settled_written(const AccessSite *site, PyObject *name, bool is_new)
{
    Settled *settled = site->settled;
    if (settled == NULL && site->kind != ACCESS_CLOSURE) {
        settled = find(name);
    }
    if (settled != NULL) {
        set(settled);
        settled->is_missed = settled->is_missed || (settled->was_read && !is_new);
    }
}

void settled_begin(void)
{
    settled_wake_all();
    if (!was_any_read) {
        return;
    }
    was_any_read = false;
    FOR_EACH(each)
    {
        each->was_read = each->is_missed = false;
    }
}

static int append_missed(PyObject *list)
{
    FOR_EACH(each)
    {
        if (each->is_missed && PyList_Append(list, each->name) < 0) {
            return -1;
        }
    }
    return PyList_Sort(list);
}

/* sites_asleep() -> (how many, names of attributes that were written after they had been read while
 * nobody looked) */
static PyObject *sites_asleep(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *missed = PyList_New(0);
    if (missed == NULL || (was_any_read && append_missed(missed) < 0)) {
        Py_XDECREF(missed);
        return NULL;
    }
    return Py_BuildValue("IN", count_asleep, missed);
}

PyMethodDef settled_functions[] = {{"sites_asleep", sites_asleep, METH_NOARGS, NULL},
                                   {NULL, NULL, 0, NULL}};
