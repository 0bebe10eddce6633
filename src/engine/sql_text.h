#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/task.h"
#include "iceberg/schema.h"
#include "partition/partition_set.h"

namespace amend::engine {

/// SQL that the engine runs, made from values; every name and value is quoted here.

/// `SELECT` over exactly these files, columns found by field id and named as the schema
/// says; without files an empty relation of the same columns.
std::string ScanSql(const iceberg::Schema& schema, const std::vector<std::string>& files,
                    bool show_landing_columns);

/// The column that ReadWithPathSql adds. A model's own columns may have any other name.
inline constexpr const char* kPathColumn = "amend_path";
/// What to read FROM for all columns of these files and kPathColumn, the path as given.
/// REQUIRES: some files.
std::string ReadWithPathSql(const iceberg::Schema& schema,
                            const std::vector<std::string>& files);

/// A condition that is true (never NULL) exactly for rows of partitions in `set`.
std::string MembershipSql(const partition::PartitionSpace& space,
                          const partition::PartitionSet& set);

/// One value per partition point, equal for equal points; only told apart, but where the
/// space is of time alone: then it is a BIGINT, and PartitionOfKey reads it.
std::string PartitionKeySql(const partition::PartitionSpace& space);
partition::Partition PartitionOfKey(std::int64_t key);

/// `{"a": 1, "b": {__duckdb_field_id: 2, element: 3}}` for COPY's FIELD_IDS.
std::string FieldIdsSql(const iceberg::Schema& schema);

/// A key's 64-bit hash; `columns` in any order, it does not depend on it. Equal where
/// GROUP BY finds the values equal, NULL being a value; the converse does not hold.
std::string KeyHashSql(std::vector<std::string> columns);
/// A row's 64-bit hash for digests. Like a key's, but nested values are hashed by their
/// JSON text: DuckDB's own hash is the same for NULL, [], [NULL], {} and {a: NULL}.
std::string RowHashSql(const iceberg::Schema& schema, std::vector<std::string> columns);

/// Names of a task's row hashes; no column of a model may have such a name.
inline constexpr std::string_view kRowHash = "_amend_hash";
inline constexpr std::string_view kOldRowHash = "_amend_old_hash";
/// The columns of both, over all content and over the published columns where those are
/// fewer: what is scanned and what is tallied is hashed alike.
std::string RowHashColumns(const TaskSpec& spec);
/// The two numbers of a row, from its hash, whose sums modulo 2^64 are a digest.
std::vector<std::string> DigestTerms(std::string_view row_hash);
/// Their two aggregates, as UBIGINT.
std::string DigestSql(std::string_view row_hash);
/// What names the formula in a state::Digest: engine version and columns with types.
std::string DigestFormula(const iceberg::Schema& schema,
                          std::vector<std::string> columns);

/// Names of the columns that count as content: landing's own are left out.
std::vector<std::string> ContentColumns(const iceberg::Schema& schema);

}  // namespace amend::engine
