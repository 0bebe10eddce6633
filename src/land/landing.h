#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "engine/engine.h"
#include "iceberg/schema.h"
#include "land/file_sql.h"
#include "lineage/definition.h"
#include "state/write_set.h"

namespace amend::land {

/// Rows of one landed file, staged as files of the raw table.
struct StagedLanding {
  LandingFile file;
  std::int64_t rows = 0;
  state::WriteSet write_set;
};

/// Columns of a raw table: the declared ones, then `_amend_file` and `_amend_row`.
std::vector<lineage::Column> RawColumns(const lineage::Source& source);

/// Name, format and content digest of each file to land, in the order given. NotFound,
/// Unsupported with the path.
Result<std::vector<LandingFile>> ReadFileList(Env& env,
                                              const std::vector<std::string>& paths);

/// Reads one file into new files below `folder`, in one pass and within the engine's
/// memory: what the file holds is checked while it is written, and nothing of a file that
/// does not fit is kept. Refused with file, column, row and value.
Result<StagedLanding> StageFile(Env& env, engine::Engine& engine,
                                const lineage::Source& source,
                                const iceberg::Schema& schema, const LandingFile& file,
                                const std::string& folder, const std::string& prefix);

}  // namespace amend::land
