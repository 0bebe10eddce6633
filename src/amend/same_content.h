#pragma once

#include "amend/workspace.h"
#include "publish/publisher.h"

namespace amend {

/// For publish::Publication: compares the digests of the partitions' rows at the pin and
/// at the head. Exact; reads only the partitions that are asked about.
Result<bool> SameContent(Workspace& workspace, const publish::TableChange& change,
                         const iceberg::LoadedTable& head,
                         const partition::PartitionSet& partitions);

}  // namespace amend
