#pragma once

#include "plan/survey.h"
#include "state/table_state.h"

namespace amend::plan {

/// The build record of a partition that a run cut off, as its publication leaves it. It
/// was not computed, so it is what it was: built by the definition that built it, known
/// to equal it at the input versions known before. What `reached` says of an input (the
/// record that a build of this publication has) is taken where no change of the input
/// makes the partition stale now: then it still equals its definition there. Never
/// backwards, nor for inputs that its definition did not read.
///
/// `now` is the model's standing when the publication is prepared, not when it was
/// planned: a rollback in between may have restored an earlier record.
state::BuildRecord CutOffRecord(const state::BuildRecord& before,
                                const partition::Partition& at, const Standing& now,
                                const state::BuildRecord& reached);

}  // namespace amend::plan
