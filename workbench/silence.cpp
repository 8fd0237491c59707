#include "workbench/silence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

namespace stave {
namespace {

constexpr std::string_view word = "allow STV";
constexpr std::size_t digits = 4;

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

// The comment of a line that begins with the word, or nothing.
std::optional<Allowance> allowance_in(std::string_view line, std::uint32_t number) {
  for (std::size_t slashes = line.find("//"); slashes != std::string_view::npos;
       slashes = line.find("//", slashes + 1)) {
    const std::string_view comment = trimmed(line.substr(slashes + 2));
    if (comment.substr(0, word.size()) != word) continue;
    const std::string_view rest = comment.substr(word.size());
    if (rest.size() < digits || !std::all_of(rest.begin(), rest.begin() + digits,
                                             [](char c) { return std::isdigit(static_cast<unsigned char>(c)); }))
      continue;
    Allowance out{number, number, static_cast<std::uint32_t>(slashes + 1), {}, {}, false};
    out.code = fmt::format("STV{}", rest.substr(0, digits));
    const std::string_view behind = trimmed(rest.substr(digits));
    if (!behind.empty() && behind.front() == ':') out.reason = trimmed(behind.substr(1));
    return out;
  }
  return std::nullopt;
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
    if (const auto found = allowance_in(line, number)) all.push_back(*found);
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
