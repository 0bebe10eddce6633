#include "engine/tallied.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "engine/sql_text.h"
#include "fmt/format.h"

namespace amend::engine {
namespace {

/// Of the whole partition, in the order of TallySql.
void ReadGroup(const TaskSpec& spec, const duck::Tally::Group& group,
               MeasuredFile* file) {
  auto sum = group.sums.begin();
  for (state::Digest* digest :
       {&file->digest, file->old_columns ? &*file->old_columns : nullptr}) {
    if (digest == nullptr) continue;
    digest->low = *sum++;
    digest->high = *sum++;
  }
  for (const std::string& column : spec.measures.nulls) {
    file->measure.nulls[column] = static_cast<std::int64_t>(*sum++);
  }
  for (std::size_t i = 0; i < spec.measures.distinct.size(); ++i) {
    const std::vector<std::string>& tuple = spec.measures.distinct[i];
    file->measure.duplicates[tuple] = {};
    std::vector<std::uint64_t> hashes = group.lists[i];
    std::sort(hashes.begin(), hashes.end());
    // Equal keys have equal hashes, but not the other way round: a reason to look.
    if (std::adjacent_find(hashes.begin(), hashes.end()) != hashes.end()) {
      file->suspects.push_back(tuple);
    }
  }
}

}  // namespace

bool CanTally(const TaskSpec& spec) {
  return spec.space.has_time() && spec.space.value_dimensions().empty();
}

duck::Tally::Shape TallyShape(const TaskSpec& spec) {
  return {.sums = (spec.old_columns ? 4U : 2U) + spec.measures.nulls.size(),
          .lists = spec.measures.distinct.size()};
}

std::string TallySql(const TaskSpec& spec, std::string_view select,
                     std::string_view key_column) {
  std::vector<std::string> taken = DigestTerms(kRowHash);
  if (spec.old_columns) {
    for (std::string& term : DigestTerms(kOldRowHash)) taken.push_back(std::move(term));
  }
  for (const std::string& column : spec.measures.nulls) {
    taken.push_back(fmt::format("({} IS NULL)::UBIGINT", SqlIdentifier(column)));
  }
  for (const std::vector<std::string>& tuple : spec.measures.distinct) {
    taken.push_back(KeyHashSql(tuple));
  }
  std::vector<std::string> columns;
  for (const iceberg::Field& field : spec.schema.fields) {
    columns.push_back(SqlIdentifier(field.name));
  }
  return fmt::format("SELECT {}, {}({}, {}) AS {} FROM (SELECT *, {} FROM ({}))",
                     Join(columns, ", "), kTallyFunction, PartitionKeySql(spec.space),
                     Join(taken, ", "), key_column, RowHashColumns(spec), select);
}

Result<std::vector<MeasuredFile>> ReadTally(const TaskSpec& spec,
                                            const duck::Tally& tally,
                                            const std::vector<WrittenFile>& files) {
  AMEND_CHECK(tally.lists_complete());
  MeasuredFile empty;
  empty.digest.formula = DigestFormula(spec.schema, ContentColumns(spec.schema));
  if (spec.old_columns) {
    empty.old_columns.emplace();
    empty.old_columns->formula = DigestFormula(spec.schema, *spec.old_columns);
  }
  std::map<std::string, std::int64_t> written;
  for (const WrittenFile& file : files) written[file.key] += file.file.record_count;
  std::vector<MeasuredFile> measured;
  std::string_view before;
  for (const WrittenFile& file : files) {
    std::optional<std::int64_t> number = ParseInt(file.key);
    const duck::Tally::Group* group = number ? tally.Find(*number) : nullptr;
    if (group == nullptr || group->rows != written[file.key]) {
      return Fail(Internal("a staged file does not hold the rows that were counted: " +
                           file.file.path));
    }
    MeasuredFile& next = measured.emplace_back(empty);
    next.measure.partition = PartitionOfKey(*number);
    next.measure.rows = file.file.record_count;
    next.digest.rows = file.file.record_count;
    if (next.old_columns) next.old_columns->rows = file.file.record_count;
    if (file.key != before) ReadGroup(spec, *group, &next);
    before = file.key;
  }
  return measured;
}

}  // namespace amend::engine
