#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "lineage/definition.h"
#include "partition/space.h"

namespace amend::check {

/// How the old rows of a partition are set against the new ones.
enum class DiffMode {
  kKeyed,     ///< by key: added, removed, changed with the columns that differ
  kMultiset,  ///< as bags of rows: added and removed copies; nothing is "changed"
};
std::string_view DiffModeName(DiffMode mode);

/// What the engine compares: old rows as readers of the new schema see them, so a new
/// column was NULL and a widened one has the new type. Landing's own columns are left
/// out. A number within its column's tolerance of the other is equal and counted apart,
/// so that a reader sees that it was let through (two NaNs are equal, and so are two
/// NULLs; NULL and a value never are).
struct DiffSpec {
  DiffMode mode = DiffMode::kMultiset;
  std::vector<std::string> key;
  std::vector<std::string> columns;  ///< of the new schema, in its order; without the key
  std::map<std::string, double> tolerance;  ///< absolute, > 0; keyed only
  std::vector<std::string> only_before;     ///< columns that are gone; not compared
  std::vector<std::string> only_after;      ///< columns that are new
  std::vector<std::string> retyped;         ///< same name, other type
  friend bool operator==(const DiffSpec&, const DiffSpec&) = default;
};

/// Keyed where both sides have the model's key and `key_is_unique` within each partition
/// (checked on both sides: by a key that repeats, rows would be counted more than once);
/// else as multisets.
DiffSpec DiffSpecFor(const lineage::Model& model,
                     const std::vector<lineage::Column>& before,
                     const std::vector<lineage::Column>& after, bool key_is_unique);

/// What differs in one partition; rows, not cells, unless said.
struct PartitionDiff {
  partition::Partition partition;
  std::int64_t rows_before = 0;
  std::int64_t rows_after = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
  std::int64_t changed = 0;           ///< keyed: same key, some column differs
  std::int64_t within_tolerance = 0;  ///< keyed: differ, but by no more than allowed
  std::map<std::string, std::int64_t> columns;  ///< rows in which this column differs
  friend bool operator==(const PartitionDiff&, const PartitionDiff&) = default;

  bool same() const { return added == 0 && removed == 0 && changed == 0; }
};

/// One model's review.
struct ModelDiff {
  std::string model;
  DiffSpec spec;
  std::vector<PartitionDiff> partitions;  ///< ascending, also those that are the same
};

/// Internal where the numbers cannot all be true: before − removed + added ≠ after, more
/// changes than rows, a changed row without a changed column, an unknown column. Every
/// diff passes through it before a person reads it.
Status Verify(const ModelDiff& diff);

/// All partitions added up; its `partition` means nothing.
PartitionDiff TotalOf(const ModelDiff& diff);

/// Things a reviewer should not overlook, in words: removed or new columns, columns that
/// differ in every row that stayed, two columns of one type that differ in exactly the
/// same rows (swapped?), partitions that come to be or end empty, differences let through
/// by tolerance.
std::vector<std::string> Remarks(const ModelDiff& diff,
                                 const partition::PartitionSpace& space,
                                 const std::vector<lineage::Column>& columns);

/// {model, mode, partitions: [{partition, rows_before, rows_after, added, removed,
/// changed, columns}], remarks} as `review --json` has it; partitions that are the same
/// are left out.
Json DiffToJson(const ModelDiff& diff, const partition::PartitionSpace& space,
                const std::vector<std::string>& remarks);

/// The slow, plainly right twin of what the engine does in SQL: compares rows in memory.
/// A row is one JSON object; numbers are numbers, everything else is compared as it is.
/// For tests and small samples. REQUIRES: with kKeyed, keys occur once on each side.
PartitionDiff DiffRows(const DiffSpec& spec, const std::vector<Json>& before,
                       const std::vector<Json>& after);

}  // namespace amend::check
