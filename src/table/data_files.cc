#include "table/data_files.h"

#include "base/text.h"

namespace amend::table {
namespace {

constexpr std::string_view kRunFolders = "/data/_amend/";

std::string ToHex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

Result<std::string> FromHex(const std::string& hex) {
  if (hex.size() % 2 != 0) return Fail(Damaged("a bound has an odd number of digits"));
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    auto high = HexDigit(hex[i]);
    auto low = HexDigit(hex[i + 1]);
    if (!high || !low) return Fail(Damaged("a bound is not hexadecimal"));
    bytes += static_cast<char>(*high * 16 + *low);
  }
  return bytes;
}

Json CountsToJson(const iceberg::ColumnCounts& counts) {
  Json json = Json::object();
  for (const auto& [id, count] : counts) json[std::to_string(id)] = count;
  return json;
}

Json BoundsToJson(const iceberg::ColumnBounds& bounds) {
  Json json = Json::object();
  for (const auto& [id, bytes] : bounds) json[std::to_string(id)] = ToHex(bytes);
  return json;
}

Result<int> FieldId(const std::string& text) {
  auto id = ParseInt(text);
  if (!id || *id < 0 || *id > 2'147'483'647) {
    return Fail(Damaged("file metrics name a column '" + text + "' that is no field id"));
  }
  return static_cast<int>(*id);
}

Status ReadCounts(const Json& json, const char* member, iceberg::ColumnCounts* counts) {
  auto it = json.find(member);
  if (it == json.end() || !it->is_object()) {
    return Damaged(std::string("file metrics have no object '") + member + "'");
  }
  for (const auto& [key, value] : it->items()) {
    AMEND_ASSIGN_OR_RETURN(int id, FieldId(key));
    if (!value.is_number_integer()) return Damaged("a file metric is not an integer");
    (*counts)[id] = value.get<std::int64_t>();
  }
  return {};
}

Status ReadBounds(const Json& json, const char* member, iceberg::ColumnBounds* bounds) {
  auto it = json.find(member);
  if (it == json.end() || !it->is_object()) {
    return Damaged(std::string("file metrics have no object '") + member + "'");
  }
  for (const auto& [key, value] : it->items()) {
    AMEND_ASSIGN_OR_RETURN(int id, FieldId(key));
    if (!value.is_string()) return Damaged("a bound is not text");
    AMEND_ASSIGN_OR_RETURN(std::string bytes, FromHex(value.get<std::string>()));
    (*bounds)[id] = std::move(bytes);
  }
  return {};
}

}  // namespace

Json MetricsToJson(const iceberg::DataFile& file) {
  Json json = Json::object();
  json["rows"] = file.record_count;
  json["bytes"] = file.file_size;
  json["sizes"] = CountsToJson(file.column_sizes);
  json["values"] = CountsToJson(file.value_counts);
  json["nulls"] = CountsToJson(file.null_counts);
  json["nans"] = CountsToJson(file.nan_counts);
  json["lower"] = BoundsToJson(file.lower_bounds);
  json["upper"] = BoundsToJson(file.upper_bounds);
  return json;
}

Result<iceberg::DataFile> MetricsFromJson(const Json& json) {
  iceberg::DataFile file;
  AMEND_ASSIGN(file.record_count, JsonInt(json, "rows", "file metrics"));
  AMEND_ASSIGN(file.file_size, JsonInt(json, "bytes", "file metrics"));
  AMEND_FAIL_IF_ERROR(ReadCounts(json, "sizes", &file.column_sizes));
  AMEND_FAIL_IF_ERROR(ReadCounts(json, "values", &file.value_counts));
  AMEND_FAIL_IF_ERROR(ReadCounts(json, "nulls", &file.null_counts));
  AMEND_FAIL_IF_ERROR(ReadCounts(json, "nans", &file.nan_counts));
  AMEND_FAIL_IF_ERROR(ReadBounds(json, "lower", &file.lower_bounds));
  AMEND_FAIL_IF_ERROR(ReadBounds(json, "upper", &file.upper_bounds));
  return file;
}

std::string RunFolder(const std::string& location, const std::string& run) {
  return location + std::string(kRunFolders) + run;
}

std::string RunOfFile(std::string_view path) {
  std::size_t at = path.rfind(kRunFolders);
  if (at == std::string_view::npos) return "";
  path.remove_prefix(at + kRunFolders.size());
  return std::string(path.substr(0, path.find('/')));
}

Status SyncRunFiles(Env& env, const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  const std::string& first = paths.front();
  std::size_t end = first.rfind(kRunFolders);
  if (end == std::string::npos) end = first.rfind('/');
  return SyncAll(env, paths, first.substr(0, end));
}

}  // namespace amend::table
