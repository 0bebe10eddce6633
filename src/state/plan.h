#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "state/table_state.h"

namespace amend::state {

/// What a person asked for. Default: everything stale, missing or drifted.
struct PlanRequest {
  std::vector<std::string> select;  ///< models; empty = all
  /// Partitions of each selected model that are planned even if current, with everything
  /// downstream of them. Absent: only what is not current.
  std::map<std::string, partition::PartitionSet> partitions;
  bool full = false;  ///< recompute regardless; publish only differences
  friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};

enum class ReasonKind { kSource, kUpstream, kCode, kMissing, kDrifted, kRequested };
/// "source", "upstream", … as contract.md names them.
std::string_view ReasonKindName(ReasonKind kind);

/// One step of the chain that put partitions into a plan. Following `from` of the entries
/// with kind kUpstream leads to the cause.
struct Reason {
  ReasonKind kind = ReasonKind::kSource;
  std::string from;                    ///< table; empty for the model itself
  std::string text;                    ///< "landing #7 changed 14 days", "window 7 days"
  partition::PartitionSet partitions;  ///< of the planned model, put there by this step
  /// Whether the step stands whatever the plan's other tasks turn out to give: the
  /// partitions are not current, or were asked for. Only what has no such reason may be
  /// cut off. An upstream reason stands where an earlier publication made it.
  bool standing = true;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// Each number says where it comes from; unknown plus anything is unknown.
enum class Origin { kUnknown, kFileMetadata, kExtrapolated, kMeasured };
std::string_view OriginName(Origin origin);

struct Estimate {
  Origin origin = Origin::kUnknown;
  std::int64_t rows = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  double seconds =
      0;  ///< CPU seconds; 0 with kFileMetadata where no run was measured yet
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

struct ModelPlan {
  std::string model;
  lineage::DefinitionId definition;
  partition::PartitionSet partitions;
  std::vector<Reason> because;
  /// Upper bound of what may differ: these columns, or rows where absent.
  std::optional<std::set<std::string>> changed_columns;
  std::int64_t last_entry = 0;  ///< TableState::last_entry of what the plan was made on
  Estimate estimate;
  friend bool operator==(const ModelPlan&, const ModelPlan&) = default;
};

struct SkippedModel {
  std::string model;
  std::string why;
  friend bool operator==(const SkippedModel&, const SkippedModel&) = default;
};

struct HeldPartitions {
  std::string model;
  partition::PartitionSet partitions;
  std::string by;
  std::string until;  ///< what ends it, in words
  friend bool operator==(const HeldPartitions&, const HeldPartitions&) = default;
};

struct Warning {
  std::string
      code;  ///< stable: "widened", "stale_upstream", "open", "ties", "unordered" …
  std::string text;
  friend bool operator==(const Warning&, const Warning&) = default;
};

/// How far one model is from current; disjoint, they add up to all partitions known.
struct ClassCounts {
  std::int64_t missing = 0;
  std::int64_t drifted = 0;
  std::int64_t held = 0;
  std::int64_t open = 0;
  std::int64_t stale = 0;
  std::int64_t older = 0;
  std::int64_t current = 0;
  std::int64_t total() const {
    return missing + drifted + held + open + stale + older + current;
  }
  friend bool operator==(const ClassCounts&, const ClassCounts&) = default;
};

/// An immutable, reviewable value: what will be done, on which pinned inputs. An upper
/// bound: work only shrinks.
struct Plan {
  std::string id;                   ///< "p" + 12 hex digits
  std::map<std::string, Pin> pins;  ///< every table read or written that exists
  std::vector<ModelPlan> models;    ///< inputs first
  std::vector<SkippedModel> skipped;
  std::vector<HeldPartitions> held;
  std::vector<Warning> warnings;
  std::map<std::string, ClassCounts> classes;  ///< of every model, before the plan
  PlanRequest request;
  // Not part of the id.
  std::string reason;
  std::string ticket;
  std::string author;
  std::int64_t created_micros = 0;

  bool nothing_to_do() const { return models.empty(); }
  /// What is planned of a model; null where nothing is. Borrowed.
  const ModelPlan* Find(const std::string& model) const;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Partitions of the plan that are computed even if no input of them turns out changed.
partition::PartitionSet OwnCause(const ModelPlan& plan);

/// The id of a plan's content; what Plan::id must hold. Covers what will be done: the
/// pins, `full`, and per model the definition, partitions (all, and those with a cause of
/// their own) and columns that may change. Covers per model the last entry about it, too:
/// a publication may verify what it does not move, so pins alone would give the id of a
/// plan that was done to another that has to be done again. Not why, when, by whom, the
/// estimates, or what is left out.
std::string PlanIdOf(const Plan& plan);

/// The stored form (state/encode.h): exact and sealed. PlanFromJson gives back an equal
/// plan, or Unsupported for another format, Damaged for anything that PlanToJson did not
/// write. REQUIRES of PlanToJson: estimates are finite.
Json PlanToJson(const Plan& plan);
Result<Plan> PlanFromJson(const Json& json);

}  // namespace amend::state
