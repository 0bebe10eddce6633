#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace amend::iceberg {

/// Writers spell a local file in three ways: file:///x (ours, PyIceberg), file:/x
/// (Hadoop, so Spark) and /x. Metadata keeps the spelling it was given, byte for byte;
/// these turn it into what Env takes. Percent signs are plain characters, as for other
/// engines.

/// The absolute local path. Unsupported for other schemes and for files of another host;
/// Damaged for text that is no absolute path.
Result<std::string> ToLocalPath(std::string_view uri);

/// "file:///abs/path" of an absolute local path: how we spell it, always.
std::string ToUri(std::string_view local_path);

/// Whether two spellings name the same place: scheme forms, doubled and trailing slashes
/// apart. Does not follow links.
bool SameLocation(std::string_view a, std::string_view b);

}  // namespace amend::iceberg
