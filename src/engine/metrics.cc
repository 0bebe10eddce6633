#include "engine/metrics.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "base/civil.h"
#include "base/text.h"

namespace amend::engine {
namespace {

using iceberg::Type;
using iceberg::TypeId;
using iceberg::Value;

/// Minimal big-endian two's complement of the digits of a decimal's text.
std::optional<std::string> DecimalBytes(std::string_view text) {
  bool negative = !text.empty() && text[0] == '-';
  __int128 unscaled = 0;
  for (char c : text) {
    if (c >= '0' && c <= '9') unscaled = unscaled * 10 + (c - '0');
  }
  if (negative) unscaled = -unscaled;
  std::string bytes;
  for (;;) {
    bytes.insert(bytes.begin(), static_cast<char>(unscaled & 0xFF));
    bool sign = (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
    unscaled >>= 8;
    if ((unscaled == 0 && !sign) || (unscaled == -1 && sign)) return bytes;
  }
}

std::optional<Value> ParseFloating(std::string_view text) {
  std::string copy(text);
  char* end = nullptr;
  double number = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || std::isnan(number)) return std::nullopt;
  return Value(number);
}

/// Texts of one column: "min" → "2001-01-01", …
std::map<std::string, std::string> Texts(const Json& entries) {
  std::map<std::string, std::string> texts;
  for (const Json& entry : entries) {
    if (entry.at("value").is_string()) {
      texts[entry.at("key").get<std::string>()] = entry.at("value").get<std::string>();
    }
  }
  return texts;
}

std::optional<std::int64_t> Number(const std::map<std::string, std::string>& texts,
                                   const std::string& key) {
  auto it = texts.find(key);
  return it == texts.end() ? std::nullopt : ParseInt(it->second);
}

void FillBound(const Type& type, const std::map<std::string, std::string>& texts,
               const std::string& key, bool upper, int id,
               iceberg::ColumnBounds* bounds) {
  auto it = texts.find(key);
  if (it == texts.end()) return;
  auto value = ParseStatistic(type, it->second);
  if (!value) return;
  if (auto bound = iceberg::MakeBound(type, *value, upper)) (*bounds)[id] = *bound;
}

void FillColumn(const iceberg::Field& field,
                const std::map<std::string, std::string>& texts,
                iceberg::DataFile* file) {
  if (auto n = Number(texts, "column_size_bytes")) file->column_sizes[field.id] = *n;
  if (auto n = Number(texts, "num_values")) file->value_counts[field.id] = *n;
  if (auto n = Number(texts, "null_count")) file->null_counts[field.id] = *n;
  bool floating = field.type.id == TypeId::kFloat || field.type.id == TypeId::kDouble;
  auto nan = texts.find("has_nan");
  if (floating && nan != texts.end() && (nan->second == "false" || nan->second == "0")) {
    file->nan_counts[field.id] = 0;
  }
  FillBound(field.type, texts, "min", false, field.id, &file->lower_bounds);
  FillBound(field.type, texts, "max", true, field.id, &file->upper_bounds);
}

}  // namespace

std::optional<Value> ParseStatistic(const Type& type, std::string_view text) {
  switch (type.id) {
    case TypeId::kBoolean:
      return Value(text == "1" || text == "true");
    case TypeId::kInt:
    case TypeId::kLong:
      if (auto number = ParseInt(text)) return Value(*number);
      return std::nullopt;
    case TypeId::kFloat:
    case TypeId::kDouble:
      return ParseFloating(text);
    case TypeId::kDate:
      if (auto day = ParseDay(text)) return Value(*day);
      return std::nullopt;
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      if (text.size() > 3 && text.substr(text.size() - 3) == "+00") {
        text.remove_suffix(3);
      }
      if (auto micros = ParseMicros(text)) return Value(*micros);
      return std::nullopt;
    case TypeId::kDecimal:
      if (auto bytes = DecimalBytes(text)) return Value(*bytes);
      return std::nullopt;
    case TypeId::kString:
      return Value(std::string(text));
    default:
      return std::nullopt;
  }
}

Status FillMetrics(const iceberg::Schema& schema, const Json& column_statistics,
                   iceberg::DataFile* file) {
  if (!column_statistics.is_array()) {
    return Internal("RETURN_STATS gave no column statistics for " + file->path);
  }
  for (const Json& column : column_statistics) {
    std::string path = column.at("key").get<std::string>();
    // Nested leaves have dotted paths; only whole columns get metrics.
    for (const iceberg::Field& field : schema.fields) {
      if (SqlIdentifier(field.name) == path && field.type.is_primitive()) {
        FillColumn(field, Texts(column.at("value")), file);
      }
    }
  }
  return {};
}

}  // namespace amend::engine
