#include "simulator/engine.h"

#include "core/base/units.h"
#include "executor/driver.h"
// #include "cli/verbs.h"
