#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace amend::lineage {

/// The canonical spelling of a column type, from what a person or the engine wrote:
/// "int" → INTEGER, "decimal(9, 2)" → DECIMAL(9,2), "timestamptz" → TIMESTAMP WITH TIME
/// ZONE, "text[]" → VARCHAR[], "struct(a int, b text)" → STRUCT("a"
/// INTEGER, "b" VARCHAR); names inside are always quoted.
/// Equal types have equal text, and the engine reads that text.
///
/// Invalid where the text is no type (hint: the nearest name); Unsupported where the
/// engine has the type and Iceberg v2 has none, or readers cannot read it (TIME,
/// HUGEINT, INTERVAL, TINYINT, unsigned …): the hint names what to cast to. A bare
/// DECIMAL is refused too: its default precision differs between engines.
Result<std::string> CanonicalType(std::string_view text);

}  // namespace amend::lineage
