#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lineage/lineage.h"

namespace amend::state {

/// A table's own version: the Iceberg sequence number of a snapshot. Increases with every
/// commit, whoever makes it; 0 is the empty table.
using Version = std::int64_t;

/// What a published partition was made from. Interned: a map of partitions holds indexes.
struct BuildRecord {
  lineage::DefinitionId definition;
  std::int64_t publication = 0;
  /// Per input, the version at which the partition is known to equal its definition; a
  /// cutoff moves it forward without a rebuild.
  std::map<std::string, Version> verified_at;
  /// Per input, the uuid of the table that those versions are of. Absent where it is not
  /// known: then the table is taken to be the same.
  std::map<std::string, std::string> verified_in;
  friend bool operator==(const BuildRecord&, const BuildRecord&) = default;
};

/// The build records of one table, by index. A table that is published every day has one
/// for each day, and a project has thousands of tables: kept as columns, a record takes
/// twelve bytes and eight for each input, a twentieth of the struct above, and what
/// planning asks of all records of an input lies in one piece of memory. `verified_in` is
/// left out: who loads the records has asked by then whether those tables are the same.
///
/// Append only. Thread-safe for reading.
class BuildRecords {
 public:
  /// Of a record that says nothing of an input.
  static constexpr Version kNever = std::numeric_limits<Version>::min();

  BuildRecords() = default;
  explicit BuildRecords(const std::vector<BuildRecord>& records);

  std::size_t size() const { return publications_.size(); }
  void push_back(const BuildRecord& record);

  /// REQUIRES of all: at < size().
  BuildRecord operator[](std::size_t at) const;
  const lineage::DefinitionId& definition(std::size_t at) const {
    return definitions_[definition_of_[at]];
  }
  /// Distinct, in order of their first record; and each record's place among them.
  const std::vector<lineage::DefinitionId>& definitions() const { return definitions_; }
  std::size_t definition_at(std::size_t at) const { return definition_of_[at]; }

  /// By record, the version of one input, or kNever. Null where no record knows the
  /// input. Borrowed until the next push_back.
  const std::vector<Version>* VerifiedAt(const std::string& input) const;

 private:
  std::vector<lineage::DefinitionId> definitions_;
  std::vector<std::uint32_t> definition_of_;
  std::vector<std::int64_t> publications_;
  std::map<std::string, std::vector<Version>> verified_;
};

}  // namespace amend::state
