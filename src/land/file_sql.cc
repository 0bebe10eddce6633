#include "land/file_sql.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "duck/value.h"
#include "fmt/format.h"

namespace amend::land {
namespace {

// Marks our own message inside an engine error; the fields behind it are separated by the
// unit separator, which no sane value holds.
constexpr std::string_view kMarker = "amend-misfit";
constexpr char kSeparator = '\x1f';
// Of a CSV file at a time, bytes. DuckDB's own 32 MB, several of which it pins, do not
// leave enough to sort with under a limit of 128 MB; a line may have 2 MB.
constexpr int kCsvBuffer = 4 << 20;

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

bool IsText(FileFormat format) { return format != FileFormat::kParquet; }

bool IsTabbed(std::string_view path) {
  std::string name = ToLower(path);
  return EndsWith(name, ".tsv") || EndsWith(name, ".tsv.gz");
}

/// Of the file's bytes alone: what its folders are called (day=2024-01-01/) is no column,
/// and would hide the file's own column of that name.
std::string ReadSql(const LandingFile& file) {
  std::string path = duck::ToPathLiteral(file.path);
  switch (file.format) {
    case FileFormat::kParquet:
      return fmt::format(
          "read_parquet({}, hive_partitioning=false, "
          "file_row_number=true)",
          path);
    case FileFormat::kCsv:
      // Nothing is left to the sniffer: it takes '#' for a comment and ' for a quote
      // where the sample suits it, and cuts values without a word.
      return fmt::format(
          "read_csv({}, delim={}, quote='\"', escape='\"', comment='', skip=0, "
          "hive_partitioning=false, header=true, all_varchar=true, "
          "nullstr='', "
          "allow_quoted_nulls=false, null_padding=false, strict_mode=true, "
          "buffer_size={})",
          path, IsTabbed(file.path) ? "'\\t'" : "','", kCsvBuffer);
    case FileFormat::kJson:
      return fmt::format("read_json_objects({}, hive_partitioning=false, format='auto')",
                         path);
  }
  return path;
}

/// Matches text that is exactly a value of the type.
std::string PatternOf(const std::string& type) {
  if (type == "INTEGER" || type == "BIGINT") return "[+-]?[0-9]+";
  if (type == "DATE") return "-?[0-9]{4,}-[0-9]{2}-[0-9]{2}";
  if (type == "TIMESTAMP") {
    return "-?[0-9]{4,}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}"
           "(\\.[0-9]{1,6})?)?)?";
  }
  if (type.rfind("DECIMAL(", 0) == 0) {
    std::string scale = type.substr(type.find(',') + 1);
    scale.pop_back();
    return fmt::format("[+-]?[0-9]*(\\.[0-9]{{0,{}}}0*)?", std::string(Trim(scale)));
  }
  return "";
}

std::string MisfitSql(const std::string& column, const std::string& value,
                      std::string_view kind) {
  return fmt::format(
      "error(concat('{0}', chr(31), {1}, chr(31), (amend_row + 1)::VARCHAR, chr(31), "
      "'{2}', chr(31), coalesce({3}::VARCHAR, ''), chr(31)))",
      kMarker, SqlLiteral(column), kind, value);
}

/// Text to the declared type, or an error.
std::string ConvertSql(const lineage::Column& column, const std::string& value) {
  std::string null_case =
      column.nullable ? "NULL" : MisfitSql(column.name, value, "null");
  std::string misfit = MisfitSql(column.name, value, "value");
  if (column.type == "VARCHAR") {
    return fmt::format("CASE WHEN {0} IS NULL THEN {1} ELSE {0} END", value, null_case);
  }
  std::string pattern = PatternOf(column.type);
  std::string fits = fmt::format("TRY_CAST({} AS {}) IS NOT NULL", value, column.type);
  if (!pattern.empty()) {
    fits =
        fmt::format("regexp_full_match({}, {}) AND {}", value, SqlLiteral(pattern), fits);
  }
  return fmt::format(
      "CASE WHEN {0} IS NULL THEN {1} WHEN {2} THEN TRY_CAST({0} AS {3}) ELSE {4} END",
      value, null_case, fits, column.type, misfit);
}

std::string ColumnSql(const lineage::Column& column, FileFormat format) {
  std::string name = SqlIdentifier(column.name);
  if (format == FileFormat::kJson) {
    std::string text = fmt::format("json_extract_string(json, {})",
                                   SqlLiteral("$." + SqlIdentifier(column.name)));
    return ConvertSql(column, text);
  }
  if (format == FileFormat::kCsv) return ConvertSql(column, name);
  if (column.nullable) return name;
  return fmt::format("CASE WHEN {0} IS NULL THEN {1} ELSE {0} END", name,
                     MisfitSql(column.name, name, "null"));
}

/// A JSON record, or an error where it is not an object or has a member that is not
/// declared: a misspelt name must not land as NULL.
std::string RecordSql(const std::vector<lineage::Column>& declared) {
  std::vector<std::string> names;
  for (const lineage::Column& column : declared) names.push_back(SqlLiteral(column.name));
  std::string unknown = fmt::format(
      "list_filter(json_keys(json), lambda k: k NOT IN ({}))", Join(names, ", "));
  return fmt::format(
      "CASE WHEN json_type(json) <> 'OBJECT' THEN {} WHEN len({}) > 0 THEN {} ELSE json "
      "END",
      MisfitSql("", "json", "record"), unknown,
      MisfitSql("", fmt::format("{}[1]", unknown), "member"));
}

/// The file's rows as they stand, with their ordinal.
std::string RowsSql(const LandingFile& file,
                    const std::vector<lineage::Column>& declared) {
  if (file.format == FileFormat::kParquet) {
    return "SELECT *, file_row_number AS amend_row FROM " + ReadSql(file);
  }
  std::string rows =
      "SELECT *, row_number() OVER () - 1 AS amend_row FROM " + ReadSql(file);
  if (file.format == FileFormat::kCsv) return rows;
  return fmt::format("SELECT {} AS json, amend_row FROM ({})", RecordSql(declared), rows);
}

/// Integer and float types by how much they hold.
int Width(std::string_view type) {
  constexpr std::string_view kIntegers[] = {
      "TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER", "UINTEGER", "BIGINT"};
  for (int i = 0; i < 7; ++i) {
    if (kIntegers[i] == type) return i + 1;
  }
  return 0;
}

bool LosesNothing(const std::string& found, const std::string& declared) {
  if (found == declared) return true;
  if (declared == "DOUBLE") return found == "FLOAT";
  int from = Width(found);
  int to = Width(declared);
  if (from > 0 && to > 0) return from <= to;
  auto scale = [](const std::string& type) { return type.substr(type.find(',')); };
  if (found.rfind("DECIMAL(", 0) == 0 && declared.rfind("DECIMAL(", 0) == 0) {
    auto precision = [](const std::string& type) {
      return ParseInt(type.substr(8, type.find(',') - 8)).value_or(0);
    };
    return scale(found) == scale(declared) && precision(found) <= precision(declared);
  }
  return false;
}

}  // namespace

Result<FileFormat> FormatOf(std::string_view path) {
  std::string name = ToLower(path);
  if (EndsWith(name, ".parquet")) return FileFormat::kParquet;
  if (EndsWith(name, ".gz")) name.resize(name.size() - 3);
  if (EndsWith(name, ".csv") || EndsWith(name, ".tsv")) return FileFormat::kCsv;
  if (EndsWith(name, ".json") || EndsWith(name, ".jsonl") || EndsWith(name, ".ndjson")) {
    return FileFormat::kJson;
  }
  return Fail(Unsupported("cannot tell the format of " + std::string(path))
                  .Hint("Name files .parquet, .csv, .tsv, .json, .jsonl or .ndjson; "
                        "text may also be .gz."));
}

std::string DescribeSql(const LandingFile& file) {
  if (file.format == FileFormat::kParquet) {
    return fmt::format("SELECT * FROM read_parquet({}, hive_partitioning=false)",
                       duck::ToPathLiteral(file.path));
  }
  return "SELECT * FROM " + ReadSql(file);
}

Status CheckColumns(const std::string& file, FileFormat format,
                    const std::vector<lineage::Column>& declared,
                    const std::vector<lineage::Column>& found) {
  if (format == FileFormat::kJson) return {};  // members are looked up row by row
  std::map<std::string, std::string> types;
  for (const lineage::Column& column : found) types[column.name] = column.type;
  std::set<std::string> known;
  for (const lineage::Column& column : declared) {
    known.insert(column.name);
    auto it = types.find(column.name);
    if (it == types.end()) {
      return Refused("the file has no column " + column.name + " (" + column.type + ")")
          .At(file)
          .Column(column.name)
          .Hint("Add the column to the file, or take it out of the source's columns.");
    }
    if (!IsText(format) && !LosesNothing(it->second, column.type)) {
      return Refused(fmt::format("column {} is {} in the file and declared {}",
                                 column.name, it->second, column.type))
          .At(file)
          .Column(column.name)
          .Value(it->second)
          .Hint("Convert the file, or declare the source's column with that type.");
    }
  }
  for (const lineage::Column& column : found) {
    if (known.contains(column.name)) continue;
    return Refused("the file has a column " + column.name + " that is not declared")
        .At(file)
        .Column(column.name)
        .Hint("Add it to the source's columns in amend.yaml.");
  }
  return {};
}

std::string LandingSql(const LandingFile& file,
                       const std::vector<lineage::Column>& declared) {
  std::vector<std::string> columns;
  for (const lineage::Column& column : declared) {
    columns.push_back(fmt::format("{} AS {}", ColumnSql(column, file.format),
                                  SqlIdentifier(column.name)));
  }
  return fmt::format("SELECT {}, {} AS {}, amend_row::BIGINT AS {} FROM ({})",
                     Join(columns, ", "), SqlLiteral(file.digest), lineage::kFileColumn,
                     lineage::kRowColumn, RowsSql(file, declared));
}

std::optional<Status> ParseMisfit(const std::string& file, const Status& error) {
  std::size_t at = error.message().find(kMarker);
  if (at == std::string::npos) return std::nullopt;
  std::vector<std::string> fields = Split(error.message().substr(at), kSeparator);
  if (fields.size() < 5) return std::nullopt;
  const std::string& column = fields[1];
  const std::string& kind = fields[3];
  std::string text = "row " + fields[2];
  if (kind == "null") text += " has no value for " + column;
  if (kind == "value") text += " has a value that does not fit " + column;
  if (kind == "record") text += " is no JSON object";
  if (kind == "member") text += " has a member that is not declared: " + fields[4];
  return Refused(text + "; nothing of the file was landed")
      .At(file)
      .Column(kind == "member" ? fields[4] : column)
      .Value(kind == "null" ? "NULL" : fields[4])
      .Hint("Correct the file, or the columns of the source in amend.yaml.");
}

}  // namespace amend::land
