#pragma once

#include <string>

#include "base/json.h"
#include "base/status.h"
#include "iceberg/data_file.h"

namespace amend::table {

/// The metrics of a data file as JSON, for journals and write sets: counts, sizes and
/// bounds by field id (bounds as hex). Path, partition and spec are the owner's.
Json MetricsToJson(const iceberg::DataFile& file);
/// The inverse: fills record_count, file_size and the metric maps. Damaged if malformed.
Result<iceberg::DataFile> MetricsFromJson(const Json& json);

}  // namespace amend::table
