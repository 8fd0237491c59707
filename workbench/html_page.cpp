#include "workbench/html_page.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "core/base/sha256.h"

namespace stave {
namespace {

// RFC 4648, of the 32 bytes that 64 hex digits are.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  const auto digit = [](char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 3; ++b) word = word << 8 | (b < n ? bytes[i + b] : 0u);
    for (std::size_t d = 0; d < 4; ++d) out += d <= n ? alphabet[word >> (18 - 6 * d) & 63] : '=';
  }
  return out;
}

// A kernel's name can have thousands of characters: a longer cell stands on one line, and whole in its tip.
constexpr std::size_t clipped_from = 32;

std::string hash_source(std::string_view text) { return fmt::format("'sha256-{}'", base64_of_hex(sha256(text))); }

}  // namespace

std::string json_for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

std::string html_page(std::string_view title, const std::string& body, const std::string& data) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"generator\" content=\"Stave\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; "
      "base-uri 'none'; form-action 'none'\">\n",
      hash_source(html_style), data.empty() ? "'none'" : hash_source(timeline_script));
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n";
  out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n", xml_text(title), html_style);
  out += body;
  out += "</main>\n";
  if (!data.empty())
    out += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n",
                       json_for_script(data), timeline_script);
  return out + "</body>\n</html>\n";
}

std::string html_table(std::string_view title, const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows, std::size_t all) {
  std::string out = fmt::format("<section>\n<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>", xml_text(title));
  for (const HtmlColumn& column : columns)
    out += fmt::format("<th{}>{}</th>", column.number ? " class=\"number\"" : "", xml_text(column.title));
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = xml_text(row[i]);
      if (row[i].size() > clipped_from && !columns[i].number)
        out += fmt::format("<td class=\"clipped\" title=\"{0}\">{0}</td>", text);
      else
        out += fmt::format("<td{}>{}</td>", columns[i].number ? " class=\"number\"" : "", text);
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (all > rows.size())
    out += fmt::format(
        "<p class=\"note\">{} more rows are not shown; the JSON of <code>stave report --json</code> has all.</p>\n",
        all - rows.size());
  return out + "</section>\n";
}

}  // namespace stave
