#include "workbench/silence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace stave {
namespace {

struct Allowance {
  std::uint32_t line = 0;    // where it stands
  std::uint32_t target = 0;  // the line that it speaks of
  std::uint32_t column = 0;
  std::string code;
  std::string reason;
  bool used = false;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool takes(std::string_view& text, std::string_view word) {
  const bool same =
      text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
        return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
      });
  if (same) text.remove_prefix(word.size());
  return same;
}

// "STV1001", in any case; empty: something else stands there.
std::string taken_code(std::string_view& text) {
  constexpr std::size_t digits = 4;
  std::string_view rest = text;
  if (!takes(rest, "STV") || rest.size() < digits ||
      !std::all_of(rest.begin(), rest.begin() + digits, [](unsigned char c) { return std::isdigit(c) != 0; }))
    return {};
  text = rest.substr(digits);
  return fmt::format("STV{}", rest.substr(0, digits));
}

// Of the comment `allow STV1001, STV1002: reason` in a line, one for each code.
std::vector<Allowance> allowances_in(std::string_view line, std::uint32_t number) {
  std::vector<Allowance> found;
  for (std::size_t slashes = line.find("//"); slashes != std::string_view::npos && found.empty();
       slashes = line.find("//", slashes + 1)) {
    std::string_view rest = trimmed(line.substr(slashes + 2));
    if (!takes(rest, "allow ")) continue;
    do {
      rest = trimmed(rest);
      std::string code = taken_code(rest);
      if (code.empty()) break;
      found.push_back({number, number, static_cast<std::uint32_t>(slashes + 1), std::move(code), {}, false});
      rest = trimmed(rest);
    } while (takes(rest, ","));
    if (takes(rest, ":"))
      for (Allowance& allowance : found) allowance.reason = trimmed(rest);
  }
  return found;
}

std::vector<Allowance> allowances_of(std::string_view text) {
  std::vector<Allowance> all;
  std::size_t open = 0;  // from here on they speak of the next statement
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
    ++number;
    for (Allowance& found : allowances_in(line, number)) all.push_back(std::move(found));
    const std::string_view code = trimmed(line);
    if (code.empty() || code.substr(0, 2) == "//") continue;
    for (; open < all.size(); ++open) all[open].target = number;
  }
  return all;
}

Finding about(std::string_view file, const Allowance& allowance, Severity severity, std::string_view code,
              std::string message) {
  Finding finding;
  finding.problem = {severity,
                     std::string(code),
                     std::move(message),
                     {std::string(file), allowance.line, allowance.column, allowance.line, allowance.column},
                     {}};
  return finding;
}

}  // namespace

void silence(std::string_view file, std::string_view text, Findings& findings) {
  std::vector<Allowance> allowances = allowances_of(text);
  for (Finding& finding : findings)
    for (Allowance& allowance : allowances)
      if (allowance.target == finding.problem.place.line && allowance.code == finding.problem.code &&
          finding.problem.code >= "STV1") {
        allowance.used = true;
        finding.silenced = allowance.reason;
      }
  for (const Allowance& allowance : allowances) {
    if (allowance.reason.empty())
      findings.push_back(about(file, allowance, Severity::Warning, "STV1091",
                               fmt::format("{} is silenced without a reason, so it still counts; write "
                                           "`// allow {}: why it is right here`",
                                           allowance.code, allowance.code)));
    else if (!allowance.used)
      findings.push_back(about(file, allowance, Severity::Note, "STV1090",
                               fmt::format("nothing on line {} gives {} in this mode, so this silences nothing",
                                           allowance.target, allowance.code)));
  }
}

}  // namespace stave
