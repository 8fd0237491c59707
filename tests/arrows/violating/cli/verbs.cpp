#include "analysis/compare.h"
#include "core/base/units.h"
#include "gui/session.h"
#include "workbench/jobs.h"
