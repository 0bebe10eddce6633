#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "lineage/definition.h"
#include "partition/space.h"

namespace amend::sql {

/// A table as a SELECT sees it.
struct InputTable {
  std::string name;
  /// What `SELECT *` gives: landing's own columns are not among them.
  std::vector<lineage::Column> columns;
  partition::PartitionSpace space;
};

/// A SELECT and where it stands, for messages.
struct Statement {
  std::string sql;
  std::string file;    ///< relative to the project; may be empty
  int first_line = 1;  ///< line of `file` where `sql` starts
};

/// Understands SELECTs: binds them with the pinned engine against empty tables and reads
/// the bound plan. Nothing is executed and nothing outside is read.
///
/// Why the bound plan and not the text or the syntax tree: names, `*`, types, casts and
/// CTEs are resolved in it by the engine that will run the SELECT, so that a second,
/// subtly different opinion about SQL cannot exist. Why before optimisation: the
/// optimiser uses statistics of the (empty) tables.
///
/// Fingerprints of two SELECTs compare only within one engine version; bind both.
///
/// Not thread-safe; about a millisecond and some per SELECT.
class Binder {
 public:
  static Result<Binder> Open();
  Binder(Binder&&) noexcept;
  Binder& operator=(Binder&&) noexcept;
  ~Binder();

  /// Tables that the statement reads, in the spelling of the text, CTEs left out. Needs
  /// no catalog: this is how models are ordered before they are bound. Invalid if it is
  /// not exactly one SELECT, or reads through a function or a path instead of a table.
  Result<std::set<std::string>> TablesRead(const Statement& statement);

  /// What the SELECT does. `output` is the space that the model declares; its columns
  /// must be among the outputs. Every output column has a type that a table can hold.
  ///
  /// Mappings are supersets of the real flow of rows: what is not proved is `all`. Names
  /// of tables and columns in the result are those of `tables`, whatever the text's case.
  ///
  /// Invalid, with file, line and the nearest valid name, where it does not bind.
  Result<lineage::BoundModel> Bind(const Statement& statement,
                                   const std::vector<InputTable>& tables,
                                   const partition::PartitionSpace& output);

 private:
  struct Impl;
  explicit Binder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace amend::sql
