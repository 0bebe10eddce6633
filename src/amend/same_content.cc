#include "amend/same_content.h"

#include "engine/sql_text.h"
#include "fmt/format.h"

namespace amend {
namespace {

/// Row count and digest of one partition.
Result<duck::Rows> DigestOf(Workspace& w, const iceberg::Schema& schema,
                            const table::Contents& contents,
                            const partition::Partition& point) {
  AMEND_ASSIGN(
      std::vector<std::string> files,
      contents.PathsIn(partition::PartitionSet::Of(contents.space().shape(), point)));
  AMEND_ASSIGN(engine::Engine * engine, w.engine());
  return engine->connection().Query(fmt::format(
      "SELECT count(*), {} FROM ({})",
      engine::DigestSql(engine::RowHashSql(schema, engine::ContentColumns(schema))),
      engine::ScanSql(schema, files, false)));
}

}  // namespace

Result<bool> SameContent(Workspace& workspace, const publish::TableChange& change,
                         const iceberg::LoadedTable& head,
                         const partition::PartitionSet& partitions) {
  constexpr std::int64_t kMostPartitions = 10'000;
  const iceberg::Schema& schema = head.metadata.schema();
  if (!change.pinned || !(change.pinned->metadata.schema().fields == schema.fields)) {
    return false;
  }
  const iceberg::Snapshot* current = head.metadata.current_snapshot();
  AMEND_ASSIGN(table::Contents before,
               table::ReadContents(workspace.env(), *change.pinned,
                                   change.pinned_snapshot, change.space));
  AMEND_ASSIGN(table::Contents after,
               table::ReadContents(workspace.env(), head,
                                   current == nullptr ? 0 : current->id, change.space));
  AMEND_ASSIGN(std::vector<partition::Partition> points,
               partitions.Points(kMostPartitions));
  for (const partition::Partition& point : points) {
    AMEND_ASSIGN(duck::Rows old_rows, DigestOf(workspace, schema, before, point));
    AMEND_ASSIGN(duck::Rows new_rows, DigestOf(workspace, schema, after, point));
    if (old_rows.rows != new_rows.rows) return false;
  }
  return true;
}

}  // namespace amend
