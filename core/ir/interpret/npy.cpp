#include "core/ir/interpret/npy.h"

#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "core/base/files.h"
#include "core/ir/interpret/number.h"

namespace stave {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
// NumPy itself has 32 (64 since 2.0).
constexpr std::size_t max_dimensions = 64;

struct Header {
  std::string_view descr;
  std::size_t descr_at = 0;
  std::optional<bool> fortran_order;
  std::size_t order_at = 0;
  std::vector<std::int64_t> shape;
  bool has_shape = false;
};

// A Python dict of the three keys, as NumPy writes it, in any order and spacing.
class HeaderReader {
 public:
  HeaderReader(std::string_view file, std::string_view text, std::size_t offset)
      : file_(file), text_(text), offset_(offset) {}

  Result<Header> read() {
    Header header;
    TRY_VOID(expect('{'));
    while (!take('}')) {
      const std::size_t at = at_;
      TRY(const std::string_view key, quoted());
      TRY_VOID(expect(':'));
      skip();
      if (key == "descr" && header.descr.empty()) {
        header.descr_at = offset_ + at_;
        if (peek() == '[') return error("structured types are not arrays of one dtype");
        TRY(header.descr, quoted());
      } else if (key == "fortran_order" && !header.fortran_order) {
        header.order_at = offset_ + at_;
        if (take_word("True")) {
          header.fortran_order = true;
        } else if (take_word("False")) {
          header.fortran_order = false;
        } else {
          return error("fortran_order is True or False");
        }
      } else if (key == "shape" && !header.has_shape) {
        TRY(header.shape, tuple());
        header.has_shape = true;
      } else {
        at_ = at;
        return error(fmt::format("the keys are descr, fortran_order and shape, each once, got '{}'", printable(key)));
      }
      if (take('}')) break;
      TRY_VOID(expect(','));
    }
    skip();
    if (at_ != text_.size()) return error("text after the header's closing brace");
    if (header.descr.empty() || !header.fortran_order || !header.has_shape)
      return error("the header needs descr, fortran_order and shape");
    return header;
  }

 private:
  Failure error(std::string_view what) const {
    Place place{std::string(file_), 1, static_cast<std::uint32_t>(offset_ + at_ + 1), 0, 0};
    return error_at(std::move(place), "STV0672", ".npy header: {}", what);
  }
  static std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
    return out;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t') ++at_;
  }
  bool take(char c) {
    skip();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  Result<void> expect(char c) {
    if (take(c)) return {};
    return error(fmt::format("expected '{}'", c));
  }
  Result<std::string_view> quoted() {
    skip();
    const char quote = peek();
    if (quote != '\'' && quote != '"') return error("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return error("a string without an end");
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return s;
  }
  Result<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> dims;
    TRY_VOID(expect('('));
    while (!take(')')) {
      skip();
      std::int64_t v = 0;
      const std::size_t first = at_;
      for (; peek() >= '0' && peek() <= '9'; ++at_) {
        const int digit = peek() - '0';
        if (v > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return error("a dimension over 64 bits");
        v = v * 10 + digit;
      }
      if (at_ == first) return error("expected a dimension");
      take_word("L");  // Python 2 wrote long integers so
      if (dims.size() == max_dimensions) return error(fmt::format("more than {} dimensions", max_dimensions));
      dims.push_back(v);
      if (take(')')) break;
      TRY_VOID(expect(','));
    }
    return dims;
  }

  std::string_view file_;
  std::string_view text_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

// NumPy's kind and size as one of our dtypes; raw bytes ('V', and f1 as ml_dtypes writes)
// have none of their own.
struct Storage {
  std::optional<Dtype> dtype;
  int bytes = 0;
};

std::optional<Storage> storage_of(std::string_view code) {
  static constexpr std::pair<std::string_view, Dtype> known[] = {
      {"b1", Dtype::Bool}, {"i1", Dtype::S8},  {"u1", Dtype::U8},  {"i2", Dtype::S16},
      {"u2", Dtype::U16},  {"i4", Dtype::S32}, {"u4", Dtype::U32}, {"i8", Dtype::S64},
      {"u8", Dtype::U64},  {"f2", Dtype::F16}, {"f4", Dtype::F32}, {"f8", Dtype::F64}};
  for (const auto& [name, dtype] : known)
    if (name == code) return Storage{dtype, bits_of(dtype) / 8};
  if (code == "V1" || code == "f1") return Storage{std::nullopt, 1};
  if (code == "V2") return Storage{std::nullopt, 2};
  return std::nullopt;
}

std::string_view code_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::Bool: return "|b1";
    case Dtype::S4:
    case Dtype::U4:
    case Dtype::U8: return "|u1";
    case Dtype::S8: return "|i1";
    case Dtype::S16: return "<i2";
    case Dtype::U16: return "<u2";
    case Dtype::S32: return "<i4";
    case Dtype::U32: return "<u4";
    case Dtype::S64: return "<i8";
    case Dtype::U64: return "<u8";
    case Dtype::F8E4M3:
    case Dtype::F8E5M2: return "|V1";
    case Dtype::F16: return "<f2";
    case Dtype::BF16: return "|V2";
    case Dtype::F32: return "<f4";
    case Dtype::F64: return "<f8";
  }
  return "<f4";
}

// Elements and bytes of a shape; none when it does not fit 64 bits.
std::optional<std::int64_t> checked_bytes(Dtype dtype, std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  bool empty = false;
  for (const std::int64_t d : shape) {
    if (d == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(n, d, &n) || n > std::numeric_limits<std::int64_t>::max() / 64) {
      return std::nullopt;
    }
  }
  return empty ? 0 : storage_bytes(dtype, n);
}

struct Sidecar {
  Dtype dtype;
  std::optional<std::vector<std::int64_t>> shape;
};

Result<Sidecar> parse_sidecar(std::string_view file, std::string_view text) {
  const auto trim = [](std::string_view s) {
    while (!s.empty() && (s.back() == '\n' || s.back() == '\r' || s.back() == ' ')) s.remove_suffix(1);
    return s;
  };
  const std::string path = sidecar_path(std::string(file));
  text = trim(text);
  const std::size_t bracket = text.find('[');
  const std::optional<Dtype> dtype = dtype_named(trim(text.substr(0, bracket)));
  if (!dtype) return error_at({path, 1, 1, 0, 0}, "STV0676", "a sidecar says a dtype, as `bf16` or `s4[3, 5]`");
  Sidecar sidecar{*dtype, std::nullopt};
  if (bracket == std::string_view::npos) return sidecar;
  std::vector<std::int64_t> shape;
  std::size_t i = bracket + 1;
  const auto bad = [&] {
    return error_at({path, 1, static_cast<std::uint32_t>(i + 1), 0, 0}, "STV0676",
                    "the shape of a sidecar is a list of integers, as `s4[3, 5]`");
  };
  if (text.back() != ']') return bad();
  text.remove_suffix(1);
  while (i < text.size()) {
    const std::size_t first = i;
    std::int64_t v = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      if (v > std::int64_t{1} << 58) return bad();
      v = v * 10 + (text[i] - '0');
    }
    if (i == first || shape.size() == max_dimensions) return bad();
    shape.push_back(v);
    if (i == text.size()) break;
    if (text[i] != ',') return bad();
    ++i;
    while (i < text.size() && text[i] == ' ') ++i;
    if (i == text.size()) return bad();
  }
  sidecar.shape = std::move(shape);
  return sidecar;
}

}  // namespace

std::string sidecar_path(const std::string& path) {
  const bool npy = path.size() >= 4 && path.compare(path.size() - 4, 4, ".npy") == 0;
  return (npy ? path.substr(0, path.size() - 4) : path) + ".dtype";
}

Result<NpyArray> parse_npy(std::string_view file, std::string_view content, std::string_view sidecar_text) {
  const auto at = [&](std::size_t byte) {
    return Place{std::string(file), 1, static_cast<std::uint32_t>(byte + 1), 0, 0};
  };
  if (content.size() < 10 || content.substr(0, 6) != magic)
    return error_at(at(0), "STV0670", "not a .npy file: it starts with \\x93NUMPY, a version and a header length");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(content[i])); };
  const std::size_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0)
    return error_at(at(6), "STV0671", ".npy format {}.{}; 1.0, 2.0 and 3.0 are known", major, byte(7));
  const std::size_t start = major == 1 ? 10 : 12;
  if (content.size() < start) return error_at(at(8), "STV0670", ".npy file ends in its header length");
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > content.size() - start)
    return error_at(at(8), "STV0672", ".npy header of {} bytes in a file of {}", length, content.size());
  TRY(Header header, HeaderReader(file, content.substr(start, length), start).read());
  if (*header.fortran_order && header.shape.size() > 1)
    return error_at(at(header.order_at), "STV0674",
                    "fortran_order arrays are refused: buffers are row-major; save numpy.ascontiguousarray(a)");

  const char order = header.descr[0];
  const bool has_order = order == '<' || order == '|' || order == '>' || order == '=';
  const std::optional<Storage> stored = storage_of(has_order ? header.descr.substr(1) : header.descr);
  if (!stored)
    return error_at(at(header.descr_at), "STV0673",
                    "descr '{}': bool, i1-i8, u1-u8, f2, f4, f8, and V1, V2 with a sidecar are known",
                    header.descr.size() > 40 ? "(long)" : header.descr);
  if (order == '>' && stored->bytes > 1)
    return error_at(at(header.descr_at), "STV0673", "descr '{}' is big endian; little endian is known", header.descr);

  NpyArray array{stored->dtype.value_or(Dtype::U8), header.shape, {}};
  if (sidecar_text.empty()) {
    if (!stored->dtype)
      return error_at(at(header.descr_at), "STV0676", "descr '{}' says no dtype; put its name into {}", header.descr,
                      sidecar_path(std::string(file)));
  } else {
    TRY(Sidecar sidecar, parse_sidecar(file, sidecar_text));
    const bool packed = bits_of(sidecar.dtype) == 4;
    const bool fits = packed ? stored->dtype == Dtype::U8 && sidecar.shape.has_value()
                             : bits_of(sidecar.dtype) == 8 * stored->bytes &&
                                   (!stored->dtype || *stored->dtype == sidecar.dtype) &&
                                   (!sidecar.shape || *sidecar.shape == header.shape);
    if (!fits)
      return error_at(at(header.descr_at), "STV0676", "sidecar {} says {}, which descr '{}' and its shape do not hold",
                      sidecar_path(std::string(file)), name_of(sidecar.dtype), header.descr);
    const std::optional<std::int64_t> raw = checked_bytes(Dtype::U8, header.shape);
    if (packed && (!raw || checked_bytes(sidecar.dtype, *sidecar.shape) != raw))
      return error_at(at(header.descr_at), "STV0676", "sidecar {}: {}[{}] does not take the bytes of the array",
                      sidecar_path(std::string(file)), name_of(sidecar.dtype), fmt::join(*sidecar.shape, ", "));
    array.dtype = sidecar.dtype;
    if (packed) array.shape = *sidecar.shape;
  }

  const std::size_t data = start + length;
  const std::optional<std::int64_t> needed = checked_bytes(array.dtype, array.shape);
  if (!needed || static_cast<std::uint64_t>(*needed) != content.size() - data)
    return error_at(at(data), "STV0675", "{}[{}] takes {} bytes, {} follow the header", name_of(array.dtype),
                    fmt::join(array.shape, ", "), needed ? fmt::format("{}", *needed) : "over 2^63",
                    content.size() - data);
  array.bytes.resize(content.size() - data);
  if (!array.bytes.empty()) std::memcpy(array.bytes.data(), content.data() + data, array.bytes.size());
  if (array.dtype == Dtype::Bool)
    for (std::size_t i = 0; i < array.bytes.size(); ++i)
      if (array.bytes[i] > std::byte{1})
        return error_at(at(data + i), "STV0677", "bool element {} is {}; 0 and 1 are known", i, byte(data + i));
  return array;
}

NpyText npy_text(Dtype dtype, std::span<const std::int64_t> shape, std::span<const std::byte> bytes) {
  NpyText text;
  const bool packed = bits_of(dtype) == 4;
  const auto raw = static_cast<std::int64_t>(bytes.size());
  const std::span<const std::int64_t> stored = packed ? std::span(&raw, 1) : shape;
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", code_of(dtype),
                                   fmt::join(stored, ", "), stored.size() == 1 ? "," : "");
  // Magic, version and length are 10 bytes; data starts at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  text.content = magic;
  text.content += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  text.content += header;
  text.content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (packed) {
    text.sidecar = fmt::format("{}[{}]\n", name_of(dtype), fmt::join(shape, ", "));
  } else if (dtype == Dtype::BF16 || dtype == Dtype::F8E4M3 || dtype == Dtype::F8E5M2) {
    text.sidecar = fmt::format("{}\n", name_of(dtype));
  }
  return text;
}

Result<NpyArray> read_npy(const std::string& path) {
  TRY(const std::string content, read_file(path));
  std::string sidecar;
  std::error_code ignored;
  if (std::filesystem::exists(sidecar_path(path), ignored)) {
    // A sidecar is one short line.
    TRY(sidecar, read_file(sidecar_path(path), 4096));
    if (sidecar.empty()) sidecar = "\n";
  }
  return parse_npy(path, content, sidecar);
}

Result<void> write_npy(const std::string& path, Dtype dtype, std::span<const std::int64_t> shape,
                       std::span<const std::byte> bytes) {
  const NpyText text = npy_text(dtype, shape, bytes);
  TRY_VOID(write_file(path, text.content));
  std::error_code ignored;
  if (!text.sidecar.empty()) return write_file(sidecar_path(path), text.sidecar);
  // One of an earlier array would contradict this one.
  std::filesystem::remove(sidecar_path(path), ignored);
  return {};
}

}  // namespace stave
