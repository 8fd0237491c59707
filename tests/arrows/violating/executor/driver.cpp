#include <fmt/format.h>

#include "driver.h"
#include "tests/file_test.h"
