#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/json.h"
#include "base/status.h"
#include "iceberg/data_file.h"

namespace amend::table {

/// The metrics of a data file as JSON, for journals and write sets: counts, sizes and
/// bounds by field id (bounds as hex). Path, partition and spec are the owner's.
Json MetricsToJson(const iceberg::DataFile& file);
/// The inverse: fills record_count, file_size and the metric maps. Damaged if malformed.
Result<iceberg::DataFile> MetricsFromJson(const Json& json);

/// Where a run or a landing puts the data files of a table, so that its folder tells
/// whose they are.
std::string RunFolder(const std::string& location, const std::string& run);
/// The run whose folder holds this file (local path or URI); "" where it is of none.
std::string RunOfFile(std::string_view path);

/// Makes files of one run durable, with the names of all folders that may have been made
/// for them: those from their own up to the table's. (Outside of a run's folder: their
/// own alone.) A publication syncs what it writes itself, from the table's folder up.
Status SyncRunFiles(Env& env, const std::vector<std::string>& paths);

}  // namespace amend::table
