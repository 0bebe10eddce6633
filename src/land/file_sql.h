#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "lineage/definition.h"

namespace amend::land {

enum class FileFormat { kParquet, kCsv, kJson };

/// By the name's ending: .parquet, .csv (commas), .tsv (tabs), .json, .jsonl, .ndjson,
/// each also with .gz where it is text. Text is quoted by ", which is doubled inside.
/// Unsupported for others.
Result<FileFormat> FormatOf(std::string_view path);

/// One file that is to be landed.
struct LandingFile {
  std::string path;
  std::string digest;  ///< SHA-256 of its bytes; becomes `_amend_file`
  FileFormat format = FileFormat::kParquet;
};

/// What the engine says that the file holds; text formats have every column as VARCHAR.
std::string DescribeSql(const LandingFile& file);

/// Whether the columns found are the declared ones with types that lose nothing: same
/// names in any order, integers and floats only widened. Refused with the column and both
/// types otherwise.
Status CheckColumns(const std::string& file, FileFormat format,
                    const std::vector<lineage::Column>& declared,
                    const std::vector<lineage::Column>& found);

/// A SELECT of the declared columns, `_amend_file` and `_amend_row`, in one pass: a value
/// that does not fit its column (4.5 is never 4, a third decimal is never rounded away)
/// raises an error that ParseMisfit understands, so nothing is read twice.
std::string LandingSql(const LandingFile& file,
                       const std::vector<lineage::Column>& declared);

/// The refusal behind an engine error that a SELECT of LandingSql raised: file, column,
/// row (1-based among the file's records) and value. Nothing for other errors.
std::optional<Status> ParseMisfit(const std::string& file, const Status& error);

}  // namespace amend::land
