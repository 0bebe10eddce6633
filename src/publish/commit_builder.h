#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/update.h"
#include "publish/publisher.h"

namespace amend::publish {

/// Snapshot summary keys of ours.
inline constexpr const char* kSummaryNumber = "amend.number";
inline constexpr const char* kSummaryIntent = "amend.intent";

/// Stages one table's commit: head − replaced partitions + files, tagged and stamped with
/// the number. Every file name holds `stem`'s attempt (IsFileOfAttempt).
Result<iceberg::StagedCommit> BuildCommit(Env& env, const Publication& publication,
                                          const TableChange& change,
                                          const std::string& head, std::int64_t number,
                                          const std::string& stem);

/// Whether a file's name says that this attempt wrote it, in whichever round.
bool IsFileOfAttempt(std::string_view path, std::string_view attempt);

/// What a reader finds at `head` of a table that a publication swapped.
Served ServedAt(Env& env, const iceberg::TableRef& ref, const std::string& head,
                const Swap& swap, std::int64_t number);

}  // namespace amend::publish
