#pragma once

#include "base/status.h"
#include "iceberg/partition_spec.h"
#include "iceberg/schema.h"
#include "partition/space.h"

namespace amend::table {

/// How a partition space is stored: hours, days, months and years of a date or timestamp
/// as Iceberg's transforms; weeks and quarters as identity on a DATE column that holds
/// the period's first day; values as identity. Unsupported for zones and buckets, which
/// need a materialised column; Invalid where a column is missing or of a type that the
/// dimension does not take (named, with the place to look).
Result<iceberg::PartitionSpec> SpecOf(const partition::PartitionSpace& space,
                                      const iceberg::Schema& schema);

/// The space of a table that somebody else partitioned. What has no counterpart
/// (buckets, truncation, several times) gives the unpartitioned space: a change of the
/// table then means "all", never too little.
partition::PartitionSpace SpaceOf(const iceberg::PartitionSpec& spec,
                                  const iceberg::Schema& schema);

/// Whether files of `spec` can be told apart by the points of `space`, dimension by
/// dimension.
bool SpecFits(const partition::PartitionSpace& space, const iceberg::PartitionSpec& spec,
              const iceberg::Schema& schema);

/// A tuple of a manifest as a point and back. REQUIRES: SpecFits, or an unpartitioned
/// space, whose one point every tuple is. Damaged where a value has not the type of its
/// field.
Result<partition::Partition> PointOf(const partition::PartitionSpace& space,
                                     const iceberg::PartitionTuple& tuple);
iceberg::PartitionTuple TupleOf(const partition::PartitionSpace& space,
                                const partition::Partition& point);

/// The point that a row belongs to, as an SQL expression over the table's columns: the
/// time ordinal as BIGINT (NULL for NULL) of the time dimension. REQUIRES:
/// space.has_time().
std::string TimeOrdinalSql(const partition::PartitionSpace& space);
/// The same of any DATE or TIMESTAMP expression. Never falls as the expression rises, so
/// that the ordinals of a least and a greatest value bound all between.
std::string TimeOrdinalSql(partition::Grain grain, std::string_view expression);

}  // namespace amend::table
