#include "state/change_log.h"

#include <algorithm>
#include <numeric>

namespace amend::state {

using partition::PartitionSet;
using partition::Run;
using partition::TimeRuns;

ChangeLog::ChangeLog(partition::Shape shape, const std::vector<Change>& changes)
    : shape_(shape) {
  reserve(changes.size());
  for (const Change& change : changes) push_back(change);
}

void ChangeLog::reserve(std::size_t size) {
  items_.reserve(size);
  runs_.reserve(size);
}

void ChangeLog::push_back(const Change& change) {
  AMEND_CHECK(change.partitions.shape() == shape_);
  const TimeRuns& rest = change.partitions.rest();
  if (change.partitions.named().empty() && !rest.has_null()) {
    runs_.insert(runs_.end(), rest.runs().begin(), rest.runs().end());
  } else {
    others_.emplace(items_.size(), change.partitions);
  }
  // From behind: neighbours mostly change the same columns, that is, rows.
  auto known = std::find(columns_.rbegin(), columns_.rend(), change.columns);
  if (known == columns_.rend()) {
    columns_.push_back(change.columns);
    known = columns_.rbegin();
  }
  items_.push_back({change.after, change.before, change.cause,
                    static_cast<std::uint32_t>(runs_.size()),
                    static_cast<std::uint32_t>(columns_.rend() - known) - 1});
}

Change ChangeLog::operator[](std::size_t at) const {
  const Item& item = items_[at];
  return {item.after, item.before, partitions(at), columns(at), item.cause};
}

PartitionSet ChangeLog::partitions(std::size_t at) const {
  if (auto other = others_.find(at); other != others_.end()) return other->second;
  std::vector<Run> runs(runs_.begin() + static_cast<std::ptrdiff_t>(RunsBegin(at)),
                        runs_.begin() + static_cast<std::ptrdiff_t>(items_[at].runs_end));
  return PartitionSet::OfTimes(shape_, TimeRuns::FromRuns(std::move(runs)));
}

const std::optional<std::set<std::string>>& ChangeLog::columns(std::size_t at) const {
  return columns_[items_[at].columns];
}

partition::TimeMap<Version> ChangeLog::LatestTimes() const {
  partition::TimeMap<Version> latest;
  latest.reserve(items_.size());
  auto add = [&](std::size_t at) {
    Version before = items_[at].before;
    for (std::size_t i = RunsBegin(at); i < items_[at].runs_end; ++i) {
      latest.Assign(runs_[i], before);
    }
    auto other = others_.find(at);
    if (other == others_.end()) return;
    latest.Assign(other->second.rest(), before);
    for (const auto& [values, times] : other->second.named()) {
      latest.Assign(times, before);
    }
  };
  // The later of two overwrites the earlier.
  auto earlier = [](const Item& a, const Item& b) { return a.before < b.before; };
  if (std::is_sorted(items_.begin(), items_.end(), earlier)) {
    for (std::size_t at = 0; at < items_.size(); ++at) add(at);
    return latest;
  }
  std::vector<std::size_t> order(items_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return items_[a].before < items_[b].before;
  });
  for (std::size_t at : order) add(at);
  return latest;
}

}  // namespace amend::state
