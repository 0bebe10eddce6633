#include "base/text.h"

#include <algorithm>
#include <charconv>

#include "fmt/format.h"

namespace amend {
namespace {

/// Levenshtein distance: identifiers are short, so the plain two-row table will do.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote) out += c;
    out += c;
  }
  return out + quote;
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string GroupDigits(std::int64_t number) {
  std::string digits = std::to_string(number);
  std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string HumanBytes(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  for (const char* unit : {"kB", "MB", "GB", "TB"}) {
    value /= 1000;
    if (value < 999.95) return fmt::format("{:.1f} {}", value, unit);
  }
  return fmt::format("{:.1f} PB", value / 1000);
}

std::optional<std::int64_t> ParseBytes(std::string_view text) {
  text = Trim(text);
  std::size_t digits = text.find_first_not_of("0123456789");
  auto number = ParseInt(text.substr(0, digits));
  if (!number) return std::nullopt;
  std::string unit =
      digits == std::string_view::npos ? "" : ToLower(Trim(text.substr(digits)));
  struct Unit {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr std::int64_t kKilo = 1000;
  constexpr std::int64_t kKibi = 1024;
  for (const Unit& u :
       {Unit{"", 1}, Unit{"b", 1}, Unit{"kb", kKilo}, Unit{"mb", kKilo * kKilo},
        Unit{"gb", kKilo * kKilo * kKilo}, Unit{"tb", kKilo * kKilo * kKilo * kKilo},
        Unit{"kib", kKibi}, Unit{"mib", kKibi * kKibi},
        Unit{"gib", kKibi * kKibi * kKibi}, Unit{"tib", kKibi * kKibi * kKibi * kKibi}}) {
    std::int64_t product = 0;
    if (u.name != unit) continue;
    if (__builtin_mul_overflow(*number, u.bytes, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

std::optional<std::string> NearestName(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::size_t distance = EditDistance(ToLower(name), ToLower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string SqlLiteral(std::string_view text) { return Quoted(text, '\''); }
std::string SqlIdentifier(std::string_view name) { return Quoted(name, '"'); }

}  // namespace amend
