#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stave {

// SHA-256 (FIPS 180-4) of `data`, 64 lower-case hexadecimal digits.
std::string sha256(std::string_view data);

// The same of data that comes in parts.
class Sha256 {
 public:
  void add(std::string_view data);
  std::string digest() const;

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};  // bytes_ % 64 of it wait for more
  std::uint64_t bytes_ = 0;
};

// The function that both are made of, by the processor's own instructions where it has them.
namespace sha256_block {

using State = std::array<std::uint32_t, 8>;

// `count` blocks of 64 bytes.
void add(State& state, const unsigned char* blocks, std::size_t count);
// The same in plain C++.
void add_portable(State& state, const unsigned char* blocks, std::size_t count);

}  // namespace sha256_block

}  // namespace stave
