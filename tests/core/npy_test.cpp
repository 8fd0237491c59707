#include "core/ir/interpret/npy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "tests/core/interpret_support.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

// A file as NumPy writes it, with this header and `data` zero bytes.
std::string file_of(const std::string& header, std::size_t data, char major = 1) {
  std::string text = "\x93NUMPY";
  text += {major, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (major > 1) text += {'\0', '\0'};
  return text + header + std::string(data, '\0');
}

std::string code(const Result<NpyArray>& r) { return r ? "none" : r.problems()[0].code; }

TEST(Npy, WritesWhatNumpyWrites) {
  const TestBuffer a(Dtype::F32, {3}, {0, 1, 2});
  const NpyText text = npy_text(a.dtype, a.shape, a.bytes);
  // numpy.save of numpy.arange(3, dtype='<f4'): a header of 0x76 bytes, data at 128.
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header += std::string(0x76 - 1 - header.size(), ' ') + "\n";
  std::string expected = std::string("\x93NUMPY\x01\0\x76\0", 10) + header;
  expected += std::string(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size());
  EXPECT_EQ(text.content, expected);
  EXPECT_EQ(text.sidecar, "");
}

TEST(Npy, EveryDtypeRoundTripsThroughFiles) {
  const TempFolder folder;
  const std::string path = folder / "x.npy";
  for (const Dtype d : all_dtypes) {
    SCOPED_TRACE(name_of(d));
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {5}, {3, 5}, {0, 2}, {1, 2, 3, 2}}) {
      TestBuffer b(d, shape);
      for (std::size_t i = 0; i < b.size(); ++i) store_signed(b.bytes, d, i, static_cast<std::int64_t>(i % 2));
      ASSERT_TRUE(write_npy(path, d, b.shape, b.bytes).has_value());
      const auto read = read_npy(path);
      ASSERT_TRUE(read.has_value()) << read.problems()[0].message;
      EXPECT_EQ(*read, (NpyArray{d, b.shape, b.bytes}));
      const bool own = d == Dtype::S4 || d == Dtype::U4 || d == Dtype::BF16 || d == Dtype::F8E4M3 || d == Dtype::F8E5M2;
      EXPECT_EQ(std::filesystem::exists(folder / "x.dtype"), own);
      EXPECT_EQ(npy_text(d, b.shape, b.bytes).content.find('\n') % 64, 63U);
    }
  }
}

TEST(Npy, Sidecars) {
  const TempFolder folder;
  const TestBuffer b(Dtype::S4, {3, 5}), h(Dtype::BF16, {2});
  EXPECT_EQ(npy_text(b.dtype, b.shape, b.bytes).sidecar, "s4[3, 5]\n");
  EXPECT_EQ(npy_text(h.dtype, h.shape, h.bytes).sidecar, "bf16\n");
  EXPECT_EQ(sidecar_path("dir.npy/c.npy"), "dir.npy/c.dtype");
  EXPECT_EQ(sidecar_path("c"), "c.dtype");
  const std::string v2 = file_of("{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}", 4);
  EXPECT_EQ(code(parse_npy("c.npy", v2)), "STV0676");
  EXPECT_EQ(parse_npy("c.npy", v2, "bf16\n")->dtype, Dtype::BF16);
  EXPECT_EQ(parse_npy("c.npy", v2, "bf16[2]")->dtype, Dtype::BF16);
  for (const char* bad : {"bf16[3]", "f8e4m3", "f32", "half", "\n", "bf16[", "bf16[]", "bf16[2,]", "bf16[2;3]"})
    EXPECT_EQ(code(parse_npy("c.npy", v2, bad)), "STV0676") << bad;
  const std::string u1 = file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", 3);
  EXPECT_EQ(parse_npy("c.npy", u1)->dtype, Dtype::U8);
  EXPECT_EQ(parse_npy("c.npy", u1, "u4[5]")->shape, (std::vector<std::int64_t>{5}));
  EXPECT_EQ(code(parse_npy("c.npy", u1, "u4[8]")), "STV0676");
  EXPECT_EQ(code(parse_npy("c.npy", u1, "u4")), "STV0676");
  const std::string f4 = file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4);
  EXPECT_EQ(code(parse_npy("c.npy", f4, "s32")), "STV0676");
  EXPECT_EQ(parse_npy("c.npy", f4, "f32")->dtype, Dtype::F32);
}

TEST(Npy, ReadsAllVersionsAndSpellings) {
  for (const char major : {1, 2, 3}) {
    const auto array =
        parse_npy("a.npy", file_of("{\"shape\":(2,3),'fortran_order':False,'descr':'<i2'}\n", 12, major));
    ASSERT_TRUE(array.has_value());
    EXPECT_EQ(array->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(array->dtype, Dtype::S16);
  }
  EXPECT_EQ(parse_npy("a", file_of("{'descr': '>u1', 'fortran_order': True, 'shape': (2L,), }", 2))->dtype, Dtype::U8);
  EXPECT_TRUE(parse_npy("a", file_of("{'descr': '=f8', 'fortran_order': False, 'shape': (), }", 8)).has_value());
}

TEST(Npy, MalformedFilesAreProblemsAtAByte) {
  struct Bad {
    std::string content;
    std::string code;
    std::uint32_t column;
  };
  const auto dict = [](std::string_view descr, std::string_view order, std::string_view shape) {
    return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}}}", descr, order, shape);
  };
  const Bad cases[] = {
      {"", "STV0670", 1},
      {"not a npy file", "STV0670", 1},
      {std::string("\x93NUMPY\x02\0\x01\0", 10), "STV0670", 9},
      {file_of(dict("'<f4'", "False", "(1,)"), 4, 4), "STV0671", 7},
      {std::string("\x93NUMPY\x01\0\xff\xff", 10), "STV0672", 9},
      {file_of("", 0), "STV0672", 11},
      {file_of("{", 0), "STV0672", 12},
      {file_of("{}", 0), "STV0672", 13},
      {file_of("{'descr", 0), "STV0672", 12},
      {file_of("{'magic': 1}", 0), "STV0672", 12},
      {file_of("{'descr': '<f4', 'descr': '<f4'}", 0), "STV0672", 28},
      {file_of(dict("'<f4'", "0", "(1,)"), 4), "STV0672", 45},
      {file_of(dict("[('a', '<f4')]", "False", "(1,)"), 4), "STV0672", 21},
      {file_of(dict("'<f4'", "False", "1"), 4), "STV0672", 61},
      {file_of(dict("'<f4'", "False", "(-1,)"), 4), "STV0672", 62},
      {file_of(dict("'<f4'", "False", "(99999999999999999999,)"), 4), "STV0672", 80},
      {file_of(dict("'<f4'", "False", "(1,)") + "x", 4), "STV0672", 66},
      {file_of(dict("'<c8'", "False", "(1,)"), 8), "STV0673", 21},
      {file_of(dict("'>f4'", "False", "(1,)"), 4), "STV0673", 21},
      {file_of(dict("'O'", "False", "(1,)"), 4), "STV0673", 21},
      {file_of(dict("'<f4'", "True", "(1, 2)"), 8), "STV0674", 45},
      {file_of(dict("'<f4'", "False", "(2,)"), 7), "STV0675", 66},
      {file_of(dict("'<f4'", "False", "(2,)"), 9), "STV0675", 66},
      {file_of(dict("'<f4'", "False", "(4611686018427387904, 4611686018427387904)"), 0), "STV0675", 104},
      {file_of(dict("'<f4'", "False", "(9223372036854775807,)"), 0), "STV0675", 84},
      {file_of(dict("'|b1'", "False", "(2,)"), 1) + "\x02", "STV0677", 67},
  };
  for (const Bad& bad : cases) {
    const auto result = parse_npy("a.npy", bad.content);
    ASSERT_FALSE(result.has_value()) << bad.content;
    const Problem& p = result.problems()[0];
    EXPECT_EQ(p.code, bad.code) << bad.content << ": " << p.message;
    EXPECT_EQ(p.place.column, bad.column) << bad.content << ": " << p.message;
    EXPECT_EQ(p.place.file, "a.npy");
  }
}

TEST(Npy, ManyDimensionsAreRefused) {
  std::string shape = "(";
  for (int i = 0; i < 5000; ++i) shape += "1,";
  EXPECT_EQ(code(parse_npy("a", file_of("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ")}", 4))),
            "STV0672");
}

// Any bytes give an array whose bytes fit its shape, or a problem inside the file.
RC_GTEST_PROP(NpyLaw, MutatedFilesNeverMisbehave, ()) {
  const TestBuffer b(Dtype::S32, {3, 4}, std::vector<double>(12, 7));
  std::string content = npy_text(b.dtype, b.shape, b.bytes).content;
  const auto edits = *rc::gen::inRange(1, 6);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, content.size());
    const auto what = *rc::gen::inRange(0, 3);
    if (what == 0) content[at] = static_cast<char>(*rc::gen::inRange(0, 256));
    if (what == 1) content.erase(at, *rc::gen::inRange<std::size_t>(1, 30));
    if (what == 2) content.insert(at, 1, *rc::gen::element('(', ')', '9', '\'', ',', '{', '}', '\0'));
    if (content.empty()) break;
  }
  const auto result = parse_npy("a", content, *rc::gen::element<std::string>("", "s32", "s4[96]", "s4[", "bf16"));
  if (result) {
    RC_ASSERT(static_cast<std::int64_t>(result->bytes.size()) ==
              storage_bytes(result->dtype, elements_of(result->shape)));
  } else {
    RC_ASSERT(result.problems().size() == 1U);
    RC_ASSERT(result.problems()[0].place.column <= content.size() + 1);
  }
}

}  // namespace
}  // namespace stave
