#include "iceberg/decimal.h"

#include <algorithm>
#include <cstdint>

namespace amend::iceberg {
namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr std::size_t kBytes = sizeof(Int128);

bool IsNegative(std::string_view bytes) {
  return (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0;
}

}  // namespace

std::optional<Int128> DecimalFromBytes(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  bool negative = IsNegative(bytes);
  char filler = negative ? '\xff' : '\0';
  while (bytes.size() > kBytes) {
    if (bytes.front() != filler) return std::nullopt;
    bytes.remove_prefix(1);
    if (IsNegative(bytes) != negative) return std::nullopt;
  }
  UInt128 value = negative ? ~UInt128{0} : UInt128{0};
  for (char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
  return static_cast<Int128>(value);
}

std::string DecimalToBytes(Int128 unscaled) {
  std::string bytes = *DecimalToFixed(unscaled, kBytes);
  char filler = unscaled < 0 ? '\xff' : '\0';
  std::size_t skip = 0;
  while (skip + 1 < bytes.size() && bytes[skip] == filler &&
         IsNegative(std::string_view(bytes).substr(skip + 1)) == (unscaled < 0)) {
    ++skip;
  }
  return bytes.substr(skip);
}

std::optional<std::string> DecimalToFixed(Int128 unscaled, int width) {
  std::string bytes(static_cast<std::size_t>(width), '\0');
  Int128 rest = unscaled;
  for (auto it = bytes.rbegin(); it != bytes.rend(); ++it) {
    *it = static_cast<char>(static_cast<unsigned char>(rest & 0xff));
    rest >>= 8;  // arithmetic: ends as 0 or -1
  }
  Int128 sign = unscaled < 0 ? -1 : 0;
  if (rest != sign || bytes.empty() || IsNegative(bytes) != (unscaled < 0)) {
    return std::nullopt;
  }
  return bytes;
}

int DecimalWidth(int precision) {
  UInt128 power = 1;
  for (int i = 0; i < precision; ++i) power *= 10;
  int width = 1;
  while (width < static_cast<int>(kBytes) && power > (UInt128{1} << (8U * width - 1))) {
    ++width;
  }
  return width;
}

std::string DecimalToString(Int128 unscaled, int scale) {
  UInt128 rest = unscaled < 0 ? UInt128{0} - static_cast<UInt128>(unscaled)
                              : static_cast<UInt128>(unscaled);
  std::string digits;  // least significant first
  for (; rest != 0; rest /= 10)
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  auto places = static_cast<std::size_t>(scale);
  if (digits.size() <= places) digits.resize(places + 1, '0');
  if (places > 0) digits.insert(places, ".");
  if (unscaled < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace amend::iceberg
