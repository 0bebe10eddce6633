#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"
#include "iceberg/data_file.h"
#include "iceberg/schema.h"

namespace amend::engine {

/// A value as COPY's RETURN_STATS spells it, or nothing where it is no valid bound
/// (infinity, NaN, a nested or binary type). UTC.
std::optional<iceberg::Value> ParseStatistic(const iceberg::Type& type,
                                             std::string_view text);

/// Sizes, counts and bounds of one written file from the `column_statistics` map of
/// RETURN_STATS ({key: quoted dotted path, value: map of texts}, as duck::Value gives
/// maps). Traps handled here (measured, see docs/iceberg notes in the header's source):
/// a string maximum comes cut at 256 bytes, so bounds are always cut to 16 code points
/// and the upper one incremented; a count of NaN is only known when it is 0; bounds of
/// zero keep both signs.
Status FillMetrics(const iceberg::Schema& schema, const Json& column_statistics,
                   iceberg::DataFile* file);

}  // namespace amend::engine
