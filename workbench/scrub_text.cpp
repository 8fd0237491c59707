#include "workbench/scrub_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace stave {
namespace {

// Shorter ones are letters of other words.
constexpr std::size_t least_secret = 3;

// Names of accounts and hosts that say nothing of anybody, and are words of traces.
constexpr std::string_view plain_words[] = {
    "root",    "user", "users", "admin", "ubuntu", "debian", "runner", "jovyan",  "gpu",       "cpu",
    "cuda",    "node", "host",  "rank",  "stream", "thread", "worker", "python",  "torch",     "train",
    "trainer", "main", "test",  "data",  "linux",  "kernel", "server", "default", "localhost", "redacted"};

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower_letter);
  return out;
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80);
}
bool is_of_name(char c) { return is_letter(c) || c == '_' || c == '-'; }
bool is_of_path(char c) {
  return is_of_name(c) || c == '.' || c == '+' || c == '~' || c == '@' || c == '%' || c == '=' || c == '$' || c == '#';
}
bool is_plain(std::string_view word) {
  return word.size() < least_secret ||
         std::find(std::begin(plain_words), std::end(plain_words), lowered(word)) != std::end(plain_words);
}
bool is_separator(char c) { return c == '/' || c == '\\'; }

// Where an absolute path begins: "/a/b", "C:\a", "\\host\share", "~/a", "file:///a". Its length; 0: none.
std::size_t path_length(std::string_view text, std::size_t at) {
  const auto is = [&](std::size_t i, auto test) { return i < text.size() && test(text[i]); };
  const bool fresh = at == 0 || !(is_of_path(text[at - 1]) || is_separator(text[at - 1]) || text[at - 1] == ':') ||
                     text[at - 1] == '=' || text[at - 1] == '@';
  std::size_t i = at;
  bool rooted = false;
  if (text.substr(at).starts_with("file://")) {
    i = at + 7;
    rooted = true;
  } else if (fresh && is_letter(text[at]) && at + 2 < text.size() && text[at + 1] == ':' &&
             is_separator(text[at + 2])) {
    i = at + 2;
    rooted = true;
  } else if (fresh && text[at] == '~') {
    while (is(i + 1, is_of_name)) ++i;
    ++i;
    rooted = is(i, is_separator);
  } else if ((fresh || (at > 0 && text[at - 1] == ':')) && is_separator(text[at])) {
    while (is(i + 1, is_separator)) ++i;
    rooted = is(i + 1, is_of_path);
  }
  if (!rooted) return 0;
  std::size_t names = 0;
  while (is(i, is_separator)) {
    while (is(i, is_separator)) ++i;
    if (!is(i, is_of_path)) break;
    ++names;
    while (is(i, is_of_path)) ++i;
    // A folder's name may have spaces where another part follows: "Program Files\x".
    for (std::size_t s = i; is(s, [](char c) { return c == ' '; });) {
      std::size_t end = s + 1;
      while (is(end, is_of_path)) ++end;
      if (end == s + 1 || !is(end, is_separator)) break;
      i = s = end;
    }
  }
  // "/" and "/s" are a division and a unit; a root alone says nothing.
  const bool unix_like = text[at] == '/';
  if (names == 0 || (names == 1 && unix_like && i - at < 6)) return 0;
  while (i > at + 1 && (text[i - 1] == '.' || text[i - 1] == '=')) --i;
  return i - at;
}

// The user in a home folder that starts here; none.
std::optional<std::string_view> home_user(std::string_view text, std::size_t at) {
  std::string folder = lowered(text.substr(at, 24));
  std::replace(folder.begin(), folder.end(), '\\', '/');
  for (std::size_t i = 0; i + 1 < folder.size();)
    if (folder[i] == '/' && folder[i + 1] == '/')
      folder.erase(i, 1);
    else
      ++i;
  for (const std::string_view home :
       {"/home/", "/users/", "/export/home/", "/var/home/", "/data/home/", "/documents and settings/"}) {
    if (!folder.starts_with(home)) continue;
    // In the text separators may be doubled.
    std::size_t i = at, parts = static_cast<std::size_t>(std::count(home.begin(), home.end(), '/')) - 1;
    while (i < text.size() && is_separator(text[i])) ++i;
    for (; parts > 0; --parts) {
      while (i < text.size() && !is_separator(text[i])) ++i;
      while (i < text.size() && is_separator(text[i])) ++i;
    }
    std::size_t end = i;
    while (end < text.size() && is_of_path(text[end])) ++end;
    if (end > i) return text.substr(i, end - i);
  }
  return std::nullopt;
}

// An IPv4 address that starts here, as no part of a longer number. Its length; 0: none.
std::size_t address_length(std::string_view text, std::size_t at) {
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if (at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '.')) return 0;
  std::size_t i = at;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (i >= text.size() || text[i] != '.') return 0;
      ++i;
    }
    int value = 0;
    const std::size_t begin = i;
    for (; digit(i) && i < begin + 3; ++i) value = value * 10 + (text[i] - '0');
    if (i == begin || value > 255) return 0;
  }
  return digit(i) || (i + 1 < text.size() && text[i] == '.' && digit(i + 1)) ? 0 : i - at;
}

// A mail address around the '@' at `at`: the length of what stands before and behind it.
std::optional<std::pair<std::size_t, std::size_t>> mail_around(std::string_view text, std::size_t at) {
  const auto of_user = [](char c) { return is_of_name(c) || c == '.' || c == '+'; };
  std::size_t begin = at, end = at + 1;
  while (begin > 0 && of_user(text[begin - 1])) --begin;
  while (end < text.size() && (is_of_name(text[end]) || text[end] == '.')) ++end;
  while (end > at + 1 && text[end - 1] == '.') --end;
  const std::string_view domain = text.substr(at + 1, end - at - 1);
  if (begin == at || domain.empty() || !is_letter(domain[0])) return std::nullopt;
  return std::pair{at - begin, domain.size()};
}

}  // namespace

std::string TextScrubber::word(std::string_view kind, std::string_view value) {
  const auto [at, added] = words_.try_emplace({std::string(kind), std::string(value)});
  if (added) at->second = fmt::format("{}-{}", kind, ++numbers_[std::string(kind)]);
  return at->second;
}

void TextScrubber::add_host(std::string_view host) {
  if (is_plain(host) || host.starts_with("host-")) return;
  const std::string replacement = word("host", host);
  secrets_.try_emplace(lowered(host), replacement);
  // The name alone of "node7.cluster.example".
  const std::string_view first = host.substr(0, host.find('.'));
  if (!is_plain(first) && first.find_first_not_of("0123456789") != std::string_view::npos)
    secrets_.try_emplace(lowered(first), replacement);
}

void TextScrubber::add_user(std::string_view user) {
  if (is_plain(user) || user.starts_with("user-")) return;
  secrets_.try_emplace(lowered(user), word("user", user));
}

void TextScrubber::learn(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_separator(text[at]))
      if (const auto user = home_user(text, at)) add_user(*user);
    if (text[at] != '@') continue;
    if (const auto mail = mail_around(text, at)) {
      add_user(text.substr(at - mail->first, mail->first));
      add_host(text.substr(at + 1, mail->second));
    }
  }
}

std::string TextScrubber::without_secrets(std::string_view text) {
  if (secrets_.empty()) return std::string(text);
  std::string out;
  const std::string low = lowered(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::string* replacement = nullptr;
    std::size_t length = 0;
    if (at == 0 || !is_letter(text[at - 1])) {
      for (const auto& [secret, word] : secrets_) {
        if (secret.size() <= length || low.compare(at, secret.size(), secret) != 0) continue;
        if (at + secret.size() < text.size() && is_letter(text[at + secret.size()])) continue;
        replacement = &word;
        length = secret.size();
      }
    }
    if (replacement == nullptr) {
      out += text[at++];
      continue;
    }
    out += *replacement;
    at += length;
    ++counts_[replacement->starts_with("host") ? "[host|hosts]" : "[user|users]"];
  }
  return out;
}

std::string TextScrubber::scrubbed(std::string_view text) {
  std::string out, rest;
  const auto flush = [&] {
    out += without_secrets(rest);
    rest.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = path_length(text, at); length > 0) {
      flush();
      out += word("path", text.substr(at, length));
      ++counts_["absolute [path|paths]"];
      at += length;
    } else if (const std::size_t length = address_length(text, at); length > 0) {
      flush();
      out += word("address", text.substr(at, length));
      ++counts_["[address|addresses]"];
      at += length;
    } else {
      rest += text[at++];
    }
  }
  flush();
  return out;
}

}  // namespace stave
