#include "core.h"

bool races_are_on;
