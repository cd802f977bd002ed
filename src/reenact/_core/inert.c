/* Which objects are inert: inert.h. */
#include "inert.h"

const void *inert_types[INERT_PLACES];

void inert_learn(void)
{
    const void *const types[] = {
        &PyListIter_Type,    &PyTupleIter_Type,   &PyRangeIter_Type,     &PySetIter_Type,
        &PyUnicodeIter_Type, &PyDictIterKey_Type, &PyDictIterValue_Type, &PyDictIterItem_Type,
        &PyDictKeys_Type,    &PyDictValues_Type,  &PyDictItems_Type,     &PyEnum_Type,
        &PyReversed_Type,    &PyZip_Type,         &PyMap_Type,           &PyFilter_Type,
        &PyRange_Type,       &PySlice_Type,       &PyCell_Type,          &PyMethod_Type,
        &PyCFunction_Type,   &PyFunction_Type,    &PyFrame_Type,         &PyTraceBack_Type,
        &PySuper_Type,       &PyProperty_Type,    &PyClassMethod_Type,   &PyStaticMethod_Type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        inert_types[inert_place(types[i])] = types[i];
    }
}
