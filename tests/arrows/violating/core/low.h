#pragma once

#include <simulator/engine.h>

#include <vector>

#include "core/base/units.h"
  #  include "cli/verbs.h"
