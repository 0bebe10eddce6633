#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace amend::sql {

/// A table named in a FROM, not a CTE, and where.
struct TableMention {
  std::string name;
  std::int64_t at = 0;  ///< byte in the statement
};

/// Something that a model may not do, and where.
struct Objection {
  Status status;
  std::int64_t at = -1;  ///< byte in the statement, or -1
};

/// What the syntax tree (json_serialize_sql) says before anything is bound.
struct Syntax {
  std::vector<TableMention> tables;   ///< in the order of the text
  std::vector<Objection> objections;  ///< in the order of the tree; empty: it is fine
};

/// Walks the tree of one statement. Objects to: functions that read files, run queries or
/// look into the engine instead of a table; schema-qualified names; AT clauses;
/// parameters; DESCRIBE, SHOW and SUMMARIZE.
Syntax ReadSyntax(const Json& statement);

}  // namespace amend::sql
