#include "iceberg/twin.h"

#include <utility>

#include "iceberg/location.h"

namespace amend::iceberg {

Result<StagedCommit> StageTwin(Env& env, const LoadedTable& live,
                               const TwinTarget& target, SnapshotUpdate& update) {
  if (target.ref == live.ref || SameLocation(target.location, live.metadata.location())) {
    return Fail(Invalid("a twin needs a name and a location of its own")
                    .Table(live.ref.ToString()));
  }
  MetadataBuilder builder = MetadataBuilder::Twin(live.metadata, target.location,
                                                  env.NewUuid(), env.NowMicros() / 1'000);
  for (const auto& [key, value] : target.properties) builder.SetProperty(key, value);
  builder.SetProperty("gc.enabled", "false");  // INV-T1
  AMEND_ASSIGN(TableMetadata unborn, builder.Build());
  return update.StageFirst(target.ref, unborn);
}

}  // namespace amend::iceberg
