#pragma once

#include <array>
#include <string_view>

namespace amend::simulation {

/// Ways to attach the protocol wrongly. Each lives in the simulated driver (or in the
/// simulated gc), never in the product, and the simulation must catch every one.
enum class Mutant {
  kNone,
  kLedgerOutsideTransaction,  ///< pointers first, the ledger row in a second transaction
  kNoCompareOnPointer,        ///< the swap overwrites whatever pointer is there
  kDeleteOnUnknown,           ///< a lost answer is taken for a failure: files deleted
  kFastForward,               ///< the snapshot staged on the pin is published as it is
  kConflictByAncestry,        ///< "the head descends from the pin" taken for "unchanged"
  kConflictByHead,            ///< any commit since the pin taken for a conflict
  kCompactionIsConflict,      ///< other files taken for other rows
  kSyncAfterSwap,             ///< files are made durable only after the commit
  kNoReadBack,                ///< success without reading back
  kSuccessOnUnknown,          ///< a lost answer is taken for success
  kRetryOnUnknown,            ///< a lost answer is taken for busy: committed again
  kResolveWithoutLocks,       ///< recovery does not wait for a transaction that commits
  kNoTipCompare,              ///< the commit does not look at the ledger's highest number
  kNoEpochCompare,            ///< the commit does not look at its intent's row
  kRollbackByPointer,         ///< rollback sets the old metadata file again
  kIgnoreHolds,               ///< equal rows are taken for consent
  kCleanUnregistered,         ///< gc deletes whatever nothing refers to
  kCleanOpenIntents,          ///< gc deletes files of intents that are still open
};

struct NamedMutant {
  Mutant mutant;
  std::string_view name;
};

inline constexpr std::array kMutants = {
    NamedMutant{Mutant::kLedgerOutsideTransaction, "LedgerOutsideTransaction"},
    NamedMutant{Mutant::kNoCompareOnPointer, "NoCompareOnPointer"},
    NamedMutant{Mutant::kDeleteOnUnknown, "DeleteOnUnknown"},
    NamedMutant{Mutant::kFastForward, "FastForward"},
    NamedMutant{Mutant::kConflictByAncestry, "ConflictByAncestry"},
    NamedMutant{Mutant::kConflictByHead, "ConflictByHead"},
    NamedMutant{Mutant::kCompactionIsConflict, "CompactionIsConflict"},
    NamedMutant{Mutant::kSyncAfterSwap, "SyncAfterSwap"},
    NamedMutant{Mutant::kNoReadBack, "NoReadBack"},
    NamedMutant{Mutant::kSuccessOnUnknown, "SuccessOnUnknown"},
    NamedMutant{Mutant::kRetryOnUnknown, "RetryOnUnknown"},
    NamedMutant{Mutant::kResolveWithoutLocks, "ResolveWithoutLocks"},
    NamedMutant{Mutant::kNoTipCompare, "NoTipCompare"},
    NamedMutant{Mutant::kNoEpochCompare, "NoEpochCompare"},
    NamedMutant{Mutant::kRollbackByPointer, "RollbackByPointer"},
    NamedMutant{Mutant::kIgnoreHolds, "IgnoreHolds"},
    NamedMutant{Mutant::kCleanUnregistered, "CleanUnregistered"},
    NamedMutant{Mutant::kCleanOpenIntents, "CleanOpenIntents"},
};

}  // namespace amend::simulation
