#pragma once

#include "executor/driver.h"
#include "profiles/store.h"
#include "simulator/engine.h"
#include "workbench/jobs.h"
