#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace amend::iceberg {

/// Unscaled value of a decimal: 38 digits need 127 bits.
__extension__ using Int128 = __int128;

/// The unscaled value of big-endian two's complement bytes of any width; nothing where
/// there are none or the value needs more than 128 bits.
std::optional<Int128> DecimalFromBytes(std::string_view bytes);

/// Minimal big-endian two's complement: the form of bounds, hashes and `Value`.
std::string DecimalToBytes(Int128 unscaled);

/// The same, sign-extended to `width` bytes (Avro's fixed); nothing if it does not fit.
std::optional<std::string> DecimalToFixed(Int128 unscaled, int width);

/// The least n with 10^precision <= 2^(8n-1): the width of a decimal's Avro fixed.
int DecimalWidth(int precision);

/// "-12.30".
std::string DecimalToString(Int128 unscaled, int scale);

}  // namespace amend::iceberg
