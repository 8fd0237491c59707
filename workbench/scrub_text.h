// Takes out of texts what says who made them and where: home folders, users,
// hosts, addresses, absolute paths. The same thing gets the same word everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stave {

class TextScrubber {
 public:
  // What must not stand anywhere: values of fields that are left out whole.
  void add_host(std::string_view host);
  void add_user(std::string_view user);
  // Learns the users of home folders and mail addresses in a text. All texts
  // go through here before the first one goes through scrubbed().
  void learn(std::string_view text);

  std::string scrubbed(std::string_view text);

  // How many things of each kind were replaced: "absolute [path|paths]", as for in_number().
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }

 private:
  std::string word(std::string_view kind, std::string_view value);
  std::string without_secrets(std::string_view text);

  std::map<std::string, std::string, std::less<>> secrets_;  // in lower case, what takes its place
  std::map<std::pair<std::string, std::string>, std::string, std::less<>> words_;  // by kind and value
  std::map<std::string, std::int64_t> numbers_;                                    // of words, by kind
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace stave
