#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "lineage/definition.h"
#include "partition/space.h"
#include "sql/binder.h"

namespace amend::testing {

/// One file of the corpus: a SELECT with what is expected of it in a comment before it.
/// README.md beside this header says how they are written.
struct CorpusEntry {
  std::string name;  ///< file name without folder and suffix
  sql::Statement statement;
  std::vector<sql::InputTable> tables;
  partition::PartitionSpace output;
  /// By table: the mappings of its references as MappingText gives them, sorted.
  std::map<std::string, std::vector<std::string>> mappings;
  std::map<std::string, std::set<lineage::ColumnRef>> reads;  ///< by output column
  std::optional<std::set<lineage::ColumnRef>> rows;
  /// Tables of each branch of the extents, sorted; "any" has one branch without tables.
  std::optional<std::set<std::vector<std::string>>> exists;
  std::set<std::string> findings;  ///< random, clock, unordered, ties
  bool order_sensitive = false;
  bool tight = false;
  std::string no_data;  ///< why random data says nothing of it; empty: it does
};

/// Every *.sql beside this file, by name; with AMEND_CORPUS=left_join only those whose
/// path holds it. Invalid where one cannot be read.
Result<std::vector<CorpusEntry>> ReadCorpus();

/// The mapping's own text, and what it does with NULL where that is not "NULL to NULL":
/// "same day, NULL to every", "all".
std::string MappingText(const partition::PartitionMapping& mapping);

}  // namespace amend::testing
