#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amend {

/// Splits at every `separator`; "a,,b" has three parts, "" has one empty part.
std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);
/// ASCII only; identifiers of ours are ASCII.
std::string ToLower(std::string_view text);

/// A whole decimal number, or nothing ("12x", "", "+-1", overflow).
std::optional<std::int64_t> ParseInt(std::string_view text);

/// "1,234,567".
std::string GroupDigits(std::int64_t number);
/// "31.4 GB", "512 B"; powers of 1,000.
std::string HumanBytes(std::int64_t bytes);
/// Bytes of "512MB", "2GiB", "100" (powers of 1,000 and 1,024); nothing if malformed.
std::optional<std::int64_t> ParseBytes(std::string_view text);

/// The candidate nearest to `name` by edit distance, if near enough to be a typing error.
std::optional<std::string> NearestName(std::string_view name,
                                       const std::vector<std::string>& candidates);

/// SQL text in DuckDB's dialect: 'it''s' and "odd ""name""". Every value and name that
/// enters SQL passes through these two.
std::string SqlLiteral(std::string_view text);
std::string SqlIdentifier(std::string_view name);

}  // namespace amend
