/* Whose turn it is to run Python code, on builds with a GIL: in which order the threads of a
 * parallel run came to their points.
 *
 * There the interpreter itself lets one thread run at a time. Nothing tells of a change: but
 * whoever comes to a point and was not the last one to do so has the GIL since, and says in its
 * lane how far the other had come. That orders everything at points, also what no order of
 * synchronisation or accesses knows of: code without sites, C code, reference counts. Where between
 * two points the other was stopped is told as well (places.c), but not which of several times. So
 * it is a *hint*: engine/linear.py goes by it as long as nothing contradicts, engine/tries.py
 * changes it if that does not lead to what was recorded, and a parallel replay passes it over.
 *
 * To notice costs nothing where nothing changes. Only the thread at work has a budget; the others'
 * end at their next point, where they take over. */
#include "core.h"

Thread *at_work; /* has come to the latest point */

/* In a forked process, and before the first thread. */
void shifts_forget(void)
{
    at_work = NULL;
}

/* How far a thread has come that does not run: what it waits in is not done yet. */
static int64_t reached(const Thread *thread)
{
    const Lane *lane = &thread->lane;
    bool is_done = thread->status != WAITING && !lane->is_held_up && !lane->is_leaving;
    return thread_position(thread) - !is_done;
}

void shifts_change(Thread *thread)
{
    Thread *before = at_work;
    if (compat_thread_state() == NULL) {
        return;
    }
    at_work = thread;
    if (before == NULL) {
        return;
    }
    bool is_between =
        before->status == RUNNING && !before->lane.is_leaving && !before->lane.is_held_up;
    Halt place = is_between ? place_left(before) : (Halt){0};
    lane_hint(thread, (Deed){before->index, reached(before)}, place);
    if (!before->lane.is_leaving) {
        parallel_look_within(before, 1);
    }
}
