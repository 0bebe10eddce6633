#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lineage/definition.h"
#include "partition/mapping.h"
#include "project/section.h"

namespace amend::project {

/// Types of the columns that a table declares; what partition_by is checked against.
struct DeclaredColumns {
  std::vector<lineage::Column> columns;
  /// Whether these are all columns (a source) or only those the header speaks of.
  bool complete = false;

  /// Compared without case, as SQL does; null where it is not declared.
  const lineage::Column* Find(std::string_view name) const;
  std::vector<std::string> Names() const;
};

/// `partition_by`: `day(ts)`, `region`, or a list of these. A plain column is a value
/// dimension and needs its declared type, which a partition's identity depends on. Week,
/// quarter, bucket and zones are refused here with what to write instead: their values
/// must be columns of the table (see docs/cli.md), or no other reader could prune by
/// them.
std::optional<partition::PartitionSpace> ReadPartitionBy(const YamlNode& node,
                                                         const std::string& path,
                                                         const DeclaredColumns& columns,
                                                         Report& report);

/// "6 days", "1 month": a count and a unit from hour to year.
struct Span {
  std::int64_t count = 0;
  partition::Grain unit = partition::Grain::kDay;
};
std::optional<Span> ParseSpan(std::string_view text);

/// One entry of a header's `inputs`, before the input's space is known.
struct InputText {
  std::string table;
  bool all = false;
  partition::Reach back;
  partition::Reach ahead;
  int line = 0;
};

/// `all`, `same`, or {lookback, lookahead, offset}: a period reads the input's periods
/// from its own start + offset − lookback to its own end + offset + lookahead; `offset:
/// -1 day` is the day before. `lookback: all` reaches back without bound.
std::optional<InputText> ReadInput(const YamlMember& member, Report& report);

/// What the text says, between two spaces; reports where it does not fit them. Values are
/// carried where both sides are cut by a column of one name and type.
std::optional<partition::PartitionMapping> MappingOf(
    const InputText& input, const partition::PartitionSpace& from,
    const partition::PartitionSpace& to, Report& report);

}  // namespace amend::project
