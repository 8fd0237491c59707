// docs/ir.md is what `stave docs` prints.
#include "core/text/reference.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace stave {

TEST(Reference, IsThePageInTheDocs) {
  const Result<std::string> page = read_file(STAVE_SOURCE_DIR "/docs/ir.md");
  ASSERT_TRUE(page);
  EXPECT_EQ(*page, ir_reference()) << "run: stave docs -o docs/ir.md";
}

}  // namespace stave
