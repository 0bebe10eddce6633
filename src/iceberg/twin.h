#pragma once

#include <map>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/update.h"

namespace amend::iceberg {

struct TwinTarget {
  TableRef ref;          ///< in a sibling namespace
  std::string location;  ///< URI of its own; only metadata is ever written there
  std::map<std::string, std::string> properties;  ///< added to the live table's
};

/// Stages a metadata-only copy of `live` with `update` applied: what the live table would
/// look like. Any Iceberg client reads it; its first snapshot is the live head, so old
/// and new can be compared in it. Later updates are staged on the twin as on any table.
///
/// Why not a branch: committing to a branch moves the live table's pointer and sequence
/// number, and a neighbour's append then loses its compare-and-swap.
///
/// The twin has its own uuid, location and metadata files; live manifests are listed by
/// their absolute paths. INV-T1: `gc.enabled` is false in every twin, which by the
/// specification forbids readers and maintenance to delete data or manifest files through
/// it, so that dropping a twin means removing its row and the files in its StagedCommits.
Result<StagedCommit> StageTwin(Env& env, const LoadedTable& live,
                               const TwinTarget& target, SnapshotUpdate& update);

}  // namespace amend::iceberg
