#include "publish/commit_builder.h"

#include <set>

#include "base/text.h"
#include "fmt/format.h"
#include "table/spaces.h"

namespace amend::publish {
namespace {

// A UUID without its last four digits, which number the round.
constexpr std::size_t kAttemptDigits = 32;
constexpr std::int64_t kMostPartitions = 1'000'000;

/// The UUID that names the files of one round: the attempt's, ending in the round.
Result<std::string> RoundUuid(const std::string& stem) {
  std::size_t dash = stem.rfind('-');
  auto round = ParseInt(std::string_view(stem).substr(dash + 1));
  if (dash < kAttemptDigits || !round || *round > 0xFFFF) {
    return Fail(Internal("an attempt's stem is no UUID and round: " + stem));
  }
  return stem.substr(0, kAttemptDigits) + fmt::format("{:04x}", *round);
}

Result<std::set<iceberg::PartitionTuple>> TuplesOf(const TableChange& change) {
  AMEND_ASSIGN(std::vector<partition::Partition> points,
               change.replaced.Points(kMostPartitions));
  std::set<iceberg::PartitionTuple> tuples;
  for (const partition::Partition& point : points) {
    tuples.insert(tuples.end(), table::TupleOf(change.space, point));
  }
  return tuples;
}

std::string BeforeTag(std::int64_t number) {
  return "amend_before_" + std::to_string(number);
}

Status Fill(const Publication& publication, const TableChange& change,
            std::int64_t number, iceberg::SnapshotUpdate* update) {
  std::map<std::string, std::string> summary = publication.summary;
  summary[kSummaryNumber] = std::to_string(number);
  summary[kSummaryIntent] = publication.intent.id;
  update->SetSummary(std::move(summary));
  if (!change.added.empty()) update->AddBorrowed(change.added);
  if (!change.restored.empty()) update->RestoreBorrowed(change.restored);
  if (change.keep_snapshot && publication.entry.rolls_back) {
    update->KeepSnapshot(BeforeTag(*publication.entry.rolls_back), *change.keep_snapshot);
  }
  if (!change.replaced.empty()) {
    AMEND_ASSIGN_OR_RETURN(std::set<iceberg::PartitionTuple> tuples, TuplesOf(change));
    update->Replace(std::move(tuples));
  }
  if (change.schema) {
    update->SetSchema(*change.schema, change.schema_base_last_column_id);
  }
  update->TagParent({BeforeTag(number), publication.tag_age_ms > 0
                                            ? std::optional(publication.tag_age_ms)
                                            : std::nullopt});
  return {};
}

}  // namespace

Result<iceberg::StagedCommit> BuildCommit(Env& env, const Publication& publication,
                                          const TableChange& change,
                                          const std::string& head, std::int64_t number,
                                          const std::string& stem) {
  AMEND_ASSIGN(std::string uuid, RoundUuid(stem));
  iceberg::SnapshotUpdate update(env, uuid);
  AMEND_FAIL_IF_ERROR(Fill(publication, change, number, &update));
  if (head.empty()) {
    if (!change.create) {
      return Fail(Conflict("the table was dropped meanwhile").Table(change.ref.name));
    }
    return iceberg::StageNewTable(env, change.ref, *change.create, update);
  }
  AMEND_ASSIGN(iceberg::LoadedTable table, iceberg::LoadTable(env, change.ref, head));
  return update.Stage(table);
}

bool IsFileOfAttempt(std::string_view path, std::string_view attempt) {
  std::string_view name = FileNameOf(path);
  return name.find(attempt.substr(0, kAttemptDigits)) != std::string_view::npos;
}

Served ServedAt(Env& env, const iceberg::TableRef& ref, const std::string& head,
                const Swap& swap, std::int64_t number) {
  auto table = iceberg::LoadTable(env, ref, head);
  if (!table) return Served::kWrong;
  const iceberg::Snapshot* snapshot = table->metadata.FindSnapshot(swap.snapshot);
  if (snapshot == nullptr) return Served::kReplaced;
  auto stamped = snapshot->summary.find(kSummaryNumber);
  if (stamped == snapshot->summary.end() || stamped->second != std::to_string(number)) {
    return Served::kWrong;
  }
  const iceberg::Snapshot* at = table->metadata.current_snapshot();
  while (at != nullptr && at->id != swap.snapshot) {
    at = at->parent_id ? table->metadata.FindSnapshot(*at->parent_id) : nullptr;
  }
  return at != nullptr ? Served::kYes : Served::kReplaced;
}

}  // namespace amend::publish
