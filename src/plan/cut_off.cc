#include "plan/cut_off.h"

#include <algorithm>

namespace amend::plan {
namespace {

bool Later(state::Version a, state::Version b) {
  if (b == state::kThisPublication) return false;
  return a == state::kThisPublication || a > b;
}

bool MadeStaleBy(const std::string& input, const partition::Partition& at,
                 const Standing& now) {
  return std::any_of(now.findings.begin(), now.findings.end(), [&](const Finding& f) {
    return f.reason.from == input && f.reason.partitions.Contains(at);
  });
}

}  // namespace

state::BuildRecord CutOffRecord(const state::BuildRecord& before,
                                const partition::Partition& at, const Standing& now,
                                const state::BuildRecord& reached) {
  state::BuildRecord record = before;
  for (auto& [input, version] : record.verified_at) {
    auto to = reached.verified_at.find(input);
    if (to == reached.verified_at.end() || Later(version, to->second)) continue;
    if (MadeStaleBy(input, at, now)) continue;
    version = to->second;
    auto table = reached.verified_in.find(input);
    if (table != reached.verified_in.end()) record.verified_in[input] = table->second;
  }
  return record;
}

}  // namespace amend::plan
