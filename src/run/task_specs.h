#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/task.h"
#include "iceberg/schema.h"
#include "lineage/lineage.h"
#include "run/task_grid.h"
#include "state/plan.h"
#include "state/write_set.h"
#include "table/contents.h"

namespace amend::run {

/// One table of a run: what is pinned, and for planned models what will be written.
struct RunTable {
  table::Contents pinned;  ///< at the plan's pin
  iceberg::Schema schema;  ///< columns by which its files, old and new, are read
  // Planned models only.
  std::string location;                                 ///< local folder of the table
  std::optional<std::vector<std::string>> old_columns;  ///< where the schema grew
  std::map<partition::Partition, state::Digest>
      published;  ///< where the pinned files are ours
  /// Planned models only: partitions that a publication spoke of, whatever is live now.
  partition::PartitionSet recorded;
};

/// Everything a run reads that is not the plan: gathered by the facade, immutable.
struct RunWorld {
  lineage::Lineage lineage;
  state::Plan plan;
  std::map<std::string, RunTable> tables;  ///< every input and every planned model
};

/// What is known of one ended task.
struct TaskOutput {
  /// Partitions that were computed and differ from what is published.
  partition::PartitionSet changed;
  /// Computed, and their digest equals the published one.
  partition::PartitionSet unchanged;
  /// Computed with a set that has no end, and without rows as before.
  partition::PartitionSet rest;
  std::optional<state::WriteSet> write_set;  ///< of changed and unchanged ones
};

/// Makes the specs of tasks from the world and the outputs so far: what is needed, which
/// files it reads, what the write set is called.
///
/// Overlay rule: a task reads the write sets of this run for partitions of planned models
/// that changed, and pinned published files for everything else. Without it a backfill
/// computes new downstream data from old upstream data.
///
/// Immutable but for the reference to the outputs. Not thread-safe.
class TaskSpecs {
 public:
  /// Both borrowed; `outputs[i]` is set once task i of the grid has ended.
  TaskSpecs(const RunWorld& world, const TaskGrid& grid,
            const std::vector<std::optional<TaskOutput>>& outputs)
      : world_(world), grid_(grid), outputs_(outputs) {}

  /// The part of a task's batch that must be computed, now that its inputs are known:
  /// partitions with a cause of their own, and those that a changed input partition
  /// reaches. The rest is cut off.
  partition::PartitionSet Needed(const Task& task) const;

  /// The spec of computing `needed`. `folder` and `file_prefix` are the caller's to set:
  /// they are not part of the name.
  Result<engine::TaskSpec> Make(const Task& task,
                                const partition::PartitionSet& needed) const;

 private:
  const state::ModelPlan& PlanOf(const std::string& model) const;
  Status AskWithoutEnd(const state::ModelPlan& plan, engine::TaskSpec* spec) const;
  Result<std::vector<std::string>> FilesFor(const std::string& table,
                                            const partition::PartitionSet& set) const;

  const RunWorld& world_;
  const TaskGrid& grid_;
  const std::vector<std::optional<TaskOutput>>& outputs_;
};

/// Compares a write set with what is published.
TaskOutput OutputOf(const RunTable& table, state::WriteSet write_set);

}  // namespace amend::run
