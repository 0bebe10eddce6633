#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/checks.h"
#include "state/verdict.h"
#include "state/write_set.h"

namespace amend::check {

/// How many rows each partition has at the pin; absent = none are published there.
using PublishedRows = std::map<partition::Partition, std::int64_t>;

/// Text of Verdict::partition where a verdict speaks of more than one.
inline constexpr const char* kAllPartitions = "all";
inline constexpr const char* kOtherPartitions = "all others";

/// Answers every question about one write set. Pure.
///
/// For each question: one verdict for each partition that fails or cannot be judged, and
/// one together for those that pass and one for those it was not asked of, "all" or "all
/// others". So a thousand good partitions cost one verdict a question.
///
/// A partition without rows is not_run for every question about rows: an empty input
/// never passes. Whether it may be empty is the question not_empty, which fails unless
/// `allow_empty`. A measure that was not taken is an error, which blocks.
std::vector<state::Verdict> Judge(const lineage::Model& model,
                                  const state::WriteSet& write_set,
                                  const Measures& measures,
                                  const PublishedRows& published);

/// What verdicts rest on besides the write set itself. Verdicts that are kept for a write
/// set hold only where both are what they were: an edited question has not been answered,
/// and rows within a limit of other rows say nothing.
struct Grounds {
  std::string questions;  ///< digest of all questions' words
  std::string published;  ///< digest of the published rows of its partitions
  friend bool operator==(const Grounds&, const Grounds&) = default;
};
Grounds GroundsOf(const lineage::Model& model, const state::WriteSet& write_set,
                  const PublishedRows& published);

/// Why a write set may not be published.
struct Objection {
  std::string check;
  std::string partition;
  std::string text;
  friend bool operator==(const Objection&, const Objection&) = default;
};

/// What stands against publishing a write set: a blocking verdict that is not pass (or
/// not_run), a question without a verdict on this very write set, or one whose words have
/// changed since. Verdicts on other write sets are passed over, so data that was computed
/// again needs its own. Empty: may be published.
std::vector<Objection> Objections(const lineage::Model& model,
                                  const std::string& write_set,
                                  const std::vector<state::Verdict>& verdicts);

}  // namespace amend::check
