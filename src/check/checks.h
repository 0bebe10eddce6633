#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "lineage/definition.h"
#include "partition/partition_set.h"

namespace amend::check {

/// How far rows of a partition may be from what is published, where a model says nothing:
/// half as many or half as many again. Losing all of them is another question, not_empty.
inline constexpr double kDefaultRowsLimit = 0.5;

/// Built-in questions, asked of every write set. Names are stable: verdicts carry them.
inline constexpr const char* kCheckWithinPlan = "within_plan";
inline constexpr const char* kCheckSchema = "schema";
inline constexpr const char* kCheckNotEmpty = "not_empty";
inline constexpr const char* kCheckRows = "rows_against_published";
inline constexpr const char* kCheckKey = "key";

/// One question with its numbers in words. An edited question has other words, which is
/// how verdicts of the old one become void.
struct Question {
  enum class Kind {
    kWithinPlan,     ///< no row outside of the partitions asked for
    kSchema,         ///< the contract's columns are there with their types
    kNotEmpty,       ///< no planned partition without rows, unless `allow_empty`
    kRows,           ///< rows within `limit` of the published ones
    kUnique,         ///< `columns` together occur once a partition, NULL being a value
    kNotNull,        ///< `columns`[0] has no NULL
    kAcceptedValues  ///< `columns`[0] holds `values` or NULL
  };
  Kind kind = Kind::kWithinPlan;
  std::string name;  ///< unique in its model
  std::string text;
  std::vector<std::string> columns;
  std::vector<std::string> values;
  double limit = 0;
  bool blocks = true;
};

/// All questions about a model in a stable order: built-in, then key and contract, then
/// its own checks. A check of its own replaces a built-in or contract one of its name.
std::vector<Question> QuestionsOf(const lineage::Model& model);

/// Whether planned partitions may end without rows: `allow_empty: true` in the header.
bool AllowsEmpty(const lineage::Model& model);

/// Values that one column may hold.
struct Accepted {
  std::string column;
  std::vector<std::string> values;
  friend bool operator==(const Accepted&, const Accepted&) = default;
};

/// What the engine must measure of each staged partition so that the questions can be
/// answered. Rows are always measured, and rows that fall outside of the plan.
struct Needed {
  std::vector<std::string> null_counts;            ///< columns
  std::vector<std::vector<std::string>> distinct;  ///< column tuples, compared null-safe
  std::map<std::string, Accepted> accepted;        ///< by question's name
  friend bool operator==(const Needed&, const Needed&) = default;
};
Needed MeasuresFor(const std::vector<Question>& questions);

/// How many offend, and a few of them.
struct Offence {
  std::int64_t count = 0;  ///< rows; for duplicates: keys that occur more than once
  std::vector<Json> samples;
};

/// What was measured of one partition. A measure that is absent was not taken, and the
/// question that needs it is answered with an error, never with pass.
struct PartitionMeasures {
  partition::Partition partition;
  std::int64_t rows = 0;
  std::map<std::string, std::int64_t> nulls;               ///< by column
  std::map<std::vector<std::string>, Offence> duplicates;  ///< by column tuple
  std::map<std::string, Offence> not_accepted;             ///< rows, by question's name
};

/// Rows that a task gave for a partition that nobody asked it for.
struct OutOfPlan {
  partition::Partition partition;
  std::int64_t rows = 0;
  std::vector<Json> samples;
};

struct Measures {
  std::vector<PartitionMeasures> partitions;  ///< those with rows
  std::vector<OutOfPlan> out_of_plan;
  std::vector<lineage::Column> columns;  ///< of the files as written
};

}  // namespace amend::check
