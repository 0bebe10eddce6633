#include "iceberg/code_points.h"

#include <cstdint>

namespace amend::iceberg {
namespace {

constexpr std::uint32_t kLastCodePoint = 0x10ffff;

struct Decoded {
  std::uint32_t code_point = 0;
  std::size_t size = 0;  ///< bytes; 0 = not well-formed
};

bool IsSurrogate(std::uint32_t code_point) {
  return code_point >= 0xd800 && code_point <= 0xdfff;
}

std::uint32_t ByteAt(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// The code point at the start of a non-empty text. Overlong forms, surrogates and
/// values past U+10FFFF are not well-formed.
Decoded DecodeFirst(std::string_view text) {
  std::uint32_t first = ByteAt(text, 0);
  if (first < 0x80) return {first, 1};
  std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
  std::uint32_t code_point = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    std::uint32_t next = ByteAt(text, i);
    if ((next & 0xc0U) != 0x80U) return {};
    code_point = (code_point << 6U) | (next & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kLeast[size] || code_point > kLastCodePoint ||
      IsSurrogate(code_point)) {
    return {};
  }
  return {code_point, size};
}

std::string EncodeCodePoint(std::uint32_t code_point) {
  auto tail = [code_point](unsigned shift) {
    return static_cast<char>(0x80U | ((code_point >> shift) & 0x3fU));
  };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xc0U | (code_point >> 6U)), tail(0)};
  if (code_point < 0x10000) {
    return {static_cast<char>(0xe0U | (code_point >> 12U)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xf0U | (code_point >> 18U)), tail(12), tail(6), tail(0)};
}

/// Where the last code point of a non-empty text starts.
std::size_t LastStart(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (ByteAt(text, at) & 0xc0U) == 0x80U) --at;
  return at;
}

}  // namespace

std::optional<std::string_view> FirstCodePoints(std::string_view text, int count) {
  std::size_t end = 0;
  for (int i = 0; i < count && end < text.size(); ++i) {
    Decoded decoded = DecodeFirst(text.substr(end));
    if (decoded.size == 0) return std::nullopt;
    end += decoded.size;
  }
  return text.substr(0, end);
}

std::optional<std::string> NextAfterPrefix(std::string_view prefix) {
  while (!prefix.empty()) {
    std::size_t start = LastStart(prefix);
    std::uint32_t last = DecodeFirst(prefix.substr(start)).code_point;
    prefix = prefix.substr(0, start);
    if (last < kLastCodePoint) {
      std::uint32_t next = IsSurrogate(last + 1) ? 0xe000 : last + 1;
      return std::string(prefix) + EncodeCodePoint(next);
    }
  }
  return std::nullopt;
}

std::optional<std::string> NextAfterBytes(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.remove_suffix(1);
  if (prefix.empty()) return std::nullopt;
  std::string next(prefix);
  next.back() = static_cast<char>(static_cast<unsigned char>(next.back()) + 1);
  return next;
}

}  // namespace amend::iceberg
