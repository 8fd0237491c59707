#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <memory>

#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/base/problem.h"
#include "core/base/result.h"
#include "core/base/sha256.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Units, ASizeOverARateIsATimeRoundedOnce) {
  EXPECT_EQ(64_MiB / BytesPerSecond{450e9}, 149'130'809_ps);  // 149130808.9
  EXPECT_EQ(1_B / BytesPerSecond{450e9}, 2_ps);               // 2.2
  EXPECT_EQ(0_B / BytesPerSecond{450e9}, 0_ps);
  EXPECT_EQ(Flops{1} / FlopsPerSecond{1e12}, 1_ps);
}

TEST(Units, HalvesRoundAwayFromZero) {
  constexpr double picosecond = 1.0 / 1e12;
  EXPECT_EQ(picoseconds(0.5 * picosecond), 1_ps);
  EXPECT_EQ(picoseconds(1.5 * picosecond), 2_ps);
  EXPECT_EQ(picoseconds(2.5 * picosecond), 3_ps);
  EXPECT_EQ(picoseconds(-2.5 * picosecond), -3_ps);
  EXPECT_EQ(picoseconds(2.25 * picosecond), 2_ps);
}

TEST(Units, Literals) {
  static_assert(1_us == 1'000_ns && 1_ns == 1'000_ps);
  static_assert(1_GiB == 1024_MiB && 1_MiB == 1024_KiB && 1_KiB == 1024_B);
  static_assert(1_KiB * 3 - 1_KiB / 2 == 2560_B);
  // A long run still fits: 106 days.
  EXPECT_EQ(picoseconds(106.0 * 86400).count(), 9'158'400'000'000'000'000);
}

RC_GTEST_PROP(UnitsLaw, MoreBytesNeverTakeLess, ()) {
  const auto small = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  const auto more = *rc::gen::inRange<std::int64_t>(0, 1 << 20);
  const BytesPerSecond rate{*rc::gen::inRange<std::int64_t>(1'000'000, 10'000'000'000'000) * 1.0};
  RC_ASSERT(Bytes{small} / rate <= Bytes{small + more} / rate);
}

TEST(Ids, NoneIsFalseAndAPositionIsTrue) {
  EXPECT_FALSE(StringId{});
  EXPECT_TRUE(StringId{0});
  EXPECT_NE(StringId{}, StringId{0});
}

TEST(Ids, AStoreHandsOutPositionsInOrder) {
  Store<std::string> store;
  const auto first = store.add("a");
  EXPECT_EQ(store.next_id(), Id<std::string>{1});
  store.add("b");
  store.add("c");
  EXPECT_EQ(store[first], "a");
  std::vector<std::string> tail;
  for (const auto id : store.range_from(1)) tail.push_back(store[id]);
  EXPECT_THAT(tail, ElementsAre("b", "c"));
  EXPECT_TRUE(store.range_from(3).empty());
}

TEST(Strings, InternGivesEachTextOneIdInOrderOfFirstUse) {
  Strings strings;
  EXPECT_EQ(strings.intern("stream").value, 0u);
  EXPECT_EQ(strings.intern("").value, 1u);
  EXPECT_EQ(strings.intern("stream").value, 0u);
  EXPECT_EQ(strings.size(), 2u);
  EXPECT_EQ(strings[StringId{1}], "");
  EXPECT_EQ(strings.find("stream"), StringId{0});
  EXPECT_EQ(strings.find("event"), StringId{});
}

TEST(Strings, ACopyOutlivesItsOriginal) {
  auto original = std::make_unique<Strings>();
  // Short and long texts: both with and without storage of their own.
  const std::string text(100, 'x');
  original->intern("a");
  original->intern(text);
  Strings copy = *original;
  Strings assigned;
  assigned.intern("gone");
  assigned = *original;
  original.reset();
  for (Strings* strings : {&copy, &assigned}) {
    EXPECT_EQ(strings->size(), 2u);
    EXPECT_EQ(strings->intern(text).value, 1u);
    EXPECT_EQ(strings->find("gone"), StringId{});
    EXPECT_EQ(strings->intern("b").value, 2u);
  }
  const Strings moved = std::move(copy);
  copy.intern("not in the new value");  // NOLINT(bugprone-use-after-move): a moved-from value is empty and usable
  EXPECT_EQ(moved.find(text).value, 1u);
  EXPECT_EQ(moved[StringId{0}], "a");
  EXPECT_EQ(moved.size(), 3u);
}

TEST(Strings, ManyTextsAreFoundAgain) {
  Strings strings;
  const std::string long_text(100'000, 'x');
  for (std::uint32_t i = 0; i < 20'000; ++i) ASSERT_EQ(strings.intern(std::to_string(i * 7919u)).value, i);
  EXPECT_EQ(strings.intern(long_text).value, 20'000u);
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    ASSERT_EQ(strings.find(std::to_string(i * 7919u)).value, i);
    ASSERT_EQ(strings[StringId{i}], std::to_string(i * 7919u));
  }
  EXPECT_EQ(strings[StringId{20'000}], long_text);
  EXPECT_EQ(strings.find("-1"), StringId{});
}

TEST(Json, WritesNestedDocuments) {
  JsonWriter json;
  json.begin_object()
      .field("schema", "stave.test/1")
      .field("text", std::string("a\"b\\c\n\t\x01"))
      .field("count", std::int64_t{-3})
      .field("large", std::numeric_limits<std::uint64_t>::max())
      .field("yes", true)
      .field("none", std::optional<double>{})
      .field("some", std::optional<int>{4});
  json.key("list").begin_array().value(1).begin_object().end_object().null().end_array();
  json.key("empty").begin_array().end_array();
  json.end_object();
  EXPECT_EQ(std::move(json).finish(), R"({
  "schema": "stave.test/1",
  "text": "a\"b\\c\n\t\u0001",
  "count": -3,
  "large": 18446744073709551615,
  "yes": true,
  "none": null,
  "some": 4,
  "list": [
    1,
    {},
    null
  ],
  "empty": []
}
)");
}

TEST(Json, NumbersReadBackToTheSameValue) {
  const auto text = [](double number) {
    JsonWriter json;
    json.value(number);
    return std::move(json).finish();
  };
  for (const double number : {0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -2.5})
    EXPECT_EQ(std::strtod(text(number).c_str(), nullptr), number);
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "null\n");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null\n");
}

TEST(Json, BytesThatAreNotUtf8BecomeReplacements) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(json_quoted("µ€😀"), "\"µ€😀\"");
  EXPECT_EQ(json_quoted("a\xff"
                        "b"),
            "\"a" + bad + "b\"");
  EXPECT_EQ(json_quoted("\xe2\x82"), "\"" + bad + bad + "\"") << "cut short";
  EXPECT_EQ(json_quoted("\xc0\xaf"), "\"" + bad + bad + "\"") << "overlong";
  EXPECT_EQ(json_quoted("\xed\xa0\x80"), "\"" + bad + bad + bad + "\"") << "surrogate";
  EXPECT_EQ(json_quoted("\xf4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"") << "above U+10FFFF";
  EXPECT_EQ(json_quoted(std::string_view("\0", 1)), "\"\\u0000\"");
}

RC_GTEST_PROP(JsonLaw, AnyBytesGiveOneStringWithoutControls, (const std::string& bytes)) {
  const std::string quoted = json_quoted(bytes);
  RC_ASSERT(quoted.size() >= 2u && quoted.front() == '"' && quoted.back() == '"');
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    RC_ASSERT(static_cast<unsigned char>(quoted[i]) >= 0x20u);
    RC_ASSERT(quoted[i] != '"');
    if (quoted[i] == '\\') ++i;
  }
  RC_ASSERT(json_quoted(quoted).size() >= quoted.size() + 4);
}

// FIPS 180-4 examples; the lengths around a block are from coreutils' sha256sum.
TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256(std::string(63, 'a')), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  EXPECT_EQ(sha256(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(sha256(std::string(119, 'a')), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
  EXPECT_EQ(sha256(std::string(120, 'a')), "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
}

// What the processor's instructions give, and what plain C++ does.
TEST(Sha256, TwoWays) {
  std::string text;
  for (int i = 0; i < 64 * 5; ++i) text += static_cast<char>(i * 7);
  const auto* blocks = reinterpret_cast<const unsigned char*>(text.data());
  sha256_block::State by_instructions{1, 2, 3, 4, 5, 6, 7, 8}, portable = by_instructions;
  sha256_block::add(by_instructions, blocks, 5);
  sha256_block::add_portable(portable, blocks, 5);
  EXPECT_EQ(by_instructions, portable);
}

TEST(Files, WhatIsWrittenReadsBackAndNoPartialStays) {
  const TempFolder folder;
  const std::string path = folder / "a";
  const std::string content("line\n\0\xff", 7);
  ASSERT_TRUE(write_file(path, "something longer than what follows"));
  ASSERT_TRUE(write_file(path, content));
  EXPECT_EQ(*read_file(path), content);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  ASSERT_TRUE(write_file(folder / "empty", ""));
  EXPECT_EQ(*read_file(folder / "empty"), "");
}

TEST(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TempFolder folder;
  const auto missing = write_file(folder / "no/such/a", "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.problems()[0].code, "STV0002");
  EXPECT_THAT(missing.problems()[0].message, HasSubstr("cannot write: No such file or directory"));
  EXPECT_EQ(missing.problems()[0].place.file, folder / "no/such/a");

  std::filesystem::create_directories(folder / "taken");
  EXPECT_FALSE(write_file(folder / "taken", "x")) << "a folder has that name";
  EXPECT_FALSE(std::filesystem::exists(folder / "taken.partial"));

  ASSERT_TRUE(write_file(folder / "old", "old"));
  std::filesystem::create_directories(folder / "old.partial");
  EXPECT_FALSE(write_file(folder / "old", "new"));
  EXPECT_EQ(*read_file(folder / "old"), "old");
}

TEST(Files, ReadingHasALimit) {
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "12345"));
  EXPECT_EQ(*read_file(folder / "a", 5), "12345");
  const auto over = read_file(folder / "a", 4);
  ASSERT_FALSE(over);
  EXPECT_EQ(to_text(over.problems()[0]),
            (folder / "a") + ": error: cannot read: it is larger than 4 bytes [STV0001]\n");
  EXPECT_FALSE(read_file(folder / "b"));
  const auto is_folder = read_file(folder.path());
  ASSERT_FALSE(is_folder);
  EXPECT_THAT(is_folder.problems()[0].message, EndsWith("it is a folder"));
  const std::string large(3 << 20, 'x');
  ASSERT_TRUE(write_file(folder / "large", large));
  EXPECT_EQ(*read_file(folder / "large"), large);
}

TEST(Problem, TextHasPlaceRuleCodeAndExcerpt) {
  Problem problem{
      Severity::Error, "STV0123", "axis is \"y\"", {"a.stave", 2, 5}, {{"declared here", {"a.stave", 1, 1}}}};
  EXPECT_EQ(to_text(problem),
            "a.stave:2:5: error: axis is \"y\" [STV0123]\n"
            "a.stave:1:1: note: declared here\n");
  EXPECT_EQ(to_text(problem, "mesh x = 2\nabcdefg\n"),
            "a.stave:2:5: error: axis is \"y\" [STV0123]\n"
            "  abcdefg\n"
            "      ^\n"
            "a.stave:1:1: note: declared here\n"
            "  mesh x = 2\n"
            "  ^\n");
  problem.place = {};
  problem.notes.clear();
  problem.severity = Severity::Warning;
  EXPECT_EQ(to_text(problem, "mesh\n"), "warning: axis is \"y\" [STV0123]\n");
}

TEST(Problem, AnExcerptOfALongLineStaysNearItsColumn) {
  std::string line(1000, 'a');
  line[699] = 'X';
  line[698] = '\t';
  const Problem problem{Severity::Error, "", "here", {"a", 1, 700}, {}};
  const std::string text = to_text(problem, line);
  EXPECT_LT(text.size(), 300u);
  const std::size_t shown = text.find('\n') + 1;
  const std::size_t caret = text.find('\n', shown) + 1;
  EXPECT_EQ(text.find('^') - caret, text.find('X') - shown) << text;
  EXPECT_EQ(text.find('\t'), std::string::npos);
}

TEST(Problem, APlaceBeyondTheSourceHasNoExcerpt) {
  const Problem problem{Severity::Error, "", "here", {"a", 9, 1}, {}};
  EXPECT_EQ(to_text(problem, "one line\n"), "a:9:1: error: here\n");
}

Result<int> half(int number) {
  if (number % 2 != 0) return error_at({"a", 1, 1}, "STV0999", "{} is odd", number);
  return number / 2;
}
Result<int> quarter(int number) {
  TRY(const int once, half(number));
  TRY(const int twice, half(once));
  return twice;
}
Result<void> check_quarter(int number) {
  TRY_VOID(quarter(number));
  return {};
}

TEST(ResultType, TryHandsOnTheValueOrTheProblems) {
  EXPECT_EQ(*quarter(12), 3);
  const Result<int> failed = quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.problems()[0].message, "3 is odd");
  EXPECT_TRUE(check_quarter(4));
  EXPECT_EQ(check_quarter(5).problems()[0].code, "STV0999");
}

}  // namespace
TEST(WriteFile, WritesThroughADeviceInsteadOfReplacingIt) {
  ASSERT_TRUE(write_file("/dev/null", "x"));
  struct stat info {};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

}  // namespace stave
