// A value or the problems that prevented it. Nothing of ours throws.
//
//   Result<Module> load(const std::string& path) {
//     TRY(std::string text, read_file(path));
//     TRY(Module module, parse(path, text));
//     return module;
//   }
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/problem.h"

namespace stave {

using Problems = std::vector<Problem>;

// The failing half of a Result; converts to any Result.
struct Failure {
  Problems problems;

  Failure(Problem problem) { problems.push_back(std::move(problem)); }
  explicit Failure(Problems all) : problems(std::move(all)) { assert(!problems.empty()); }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure.problems)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // Valid when there is no value; never empty then.
  const Problems& problems() const& { return std::get<1>(state_); }
  Problems&& problems() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Problems> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : problems_(std::move(failure.problems)) {}

  bool has_value() const { return problems_.empty(); }
  explicit operator bool() const { return has_value(); }
  const Problems& problems() const& { return problems_; }
  Problems&& problems() && { return std::move(problems_); }

 private:
  Problems problems_;
};

template <class... Args>
Failure error_at(Place place, std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
  return Problem{
      Severity::Error, std::string(code), fmt::format(format, std::forward<Args>(args)...), std::move(place), {}};
}

#define STAVE_CONCAT_(a, b) a##b
#define STAVE_CONCAT(a, b) STAVE_CONCAT_(a, b)
#define STAVE_TRY(name, declaration, expression)                  \
  auto name = (expression);                                       \
  if (!name) return ::stave::Failure(std::move(name).problems()); \
  declaration = *std::move(name)
// TRY(Module module, parse(text)): declares or assigns, or returns the failure.
#define TRY(declaration, ...) STAVE_TRY(STAVE_CONCAT(try_, __LINE__), declaration, (__VA_ARGS__))
#define TRY_VOID(...)                                                                   \
  if (auto STAVE_CONCAT(try_, __LINE__) = (__VA_ARGS__); !STAVE_CONCAT(try_, __LINE__)) \
  return ::stave::Failure(std::move(STAVE_CONCAT(try_, __LINE__)).problems())

}  // namespace stave
