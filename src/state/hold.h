#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/status.h"
#include "partition/space.h"
#include "state/table_state.h"

namespace amend::state {

/// A hold's body as the ledger keeps it; its id and table are columns of their own.
Json HoldToJson(const partition::PartitionSpace& space, const Hold& hold);

/// Damaged where a member is not what HoldToJson writes. Partitions that are no longer of
/// `space` are everything: a hold never holds too little.
Result<Hold> HoldFromJson(const partition::PartitionSpace& space, std::int64_t id,
                          const std::string& table, const Json& json);

}  // namespace amend::state
