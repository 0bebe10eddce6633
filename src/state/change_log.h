#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "partition/partition_map.h"
#include "partition/partition_set.h"
#include "state/build_records.h"

namespace amend::state {

/// What brought a change about, for people: "landing #7", "publication #12", "commits by
/// other writers". One publication changes many tables, so copies share the text.
class Cause {
 public:
  Cause() = default;
  Cause(std::string text)  // NOLINT(google-explicit-constructor): it is but a text
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  Cause(const char* text)  // NOLINT(google-explicit-constructor)
      : Cause(std::string(text)) {}

  const std::string& text() const {
    static const std::string kNone;
    return text_ ? *text_ : kNone;
  }

 private:
  std::shared_ptr<const std::string> text_;
};

/// Partitions whose content differs for whoever verified a version in [after, before).
/// For models the ledger's publications give one each, with after = 0; for sources the
/// comparison of two snapshots' state gives the exact difference between a version that
/// some record verified and the head.
struct Change {
  Version after = 0;   ///< inclusive
  Version before = 0;  ///< exclusive
  partition::PartitionSet partitions;
  /// Where set, only these columns differ; otherwise rows do.
  std::optional<std::set<std::string>> columns;
  Cause cause;

  bool AppliesTo(Version verified) const {
    return after <= verified && verified < before;
  }
};

/// The changes of one table, in the order of their making. A table that is published
/// every day has thousands, nearly all of one run of partitions and seen by every reader
/// long ago: such a one takes 56 bytes here, a quarter of the struct above, and
/// LatestTimes tells without looking at each whether any is news to anybody.
///
/// All changes are of one partition space. Append only. Thread-safe for reading.
class ChangeLog {
 public:
  ChangeLog() = default;
  explicit ChangeLog(partition::Shape shape) : shape_(shape) {}
  ChangeLog(partition::Shape shape, const std::vector<Change>& changes);

  partition::Shape shape() const { return shape_; }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void reserve(std::size_t size);
  /// REQUIRES: partitions of this log's shape (CHECK).
  void push_back(const Change& change);

  /// REQUIRES of all: at < size().
  Change operator[](std::size_t at) const;
  Version after(std::size_t at) const { return items_[at].after; }
  Version before(std::size_t at) const { return items_[at].before; }
  bool AppliesTo(std::size_t at, Version verified) const {
    return after(at) <= verified && verified < before(at);
  }
  partition::PartitionSet partitions(std::size_t at) const;
  const std::optional<std::set<std::string>>& columns(std::size_t at) const;

  /// Of each period the highest `before` of the changes that touch it, whatever their
  /// values and columns: no change applies to who verified that version or a later one.
  partition::TimeMap<Version> LatestTimes() const;

 private:
  struct Item {
    Version after;
    Version before;
    Cause cause;
    std::uint32_t runs_end;  ///< its runs end there and start where the one before ends
    std::uint32_t columns;   ///< index into columns_
  };

  std::size_t RunsBegin(std::size_t at) const {
    return at == 0 ? 0 : items_[at - 1].runs_end;
  }

  partition::Shape shape_;
  std::vector<Item> items_;
  std::vector<partition::Run> runs_;
  /// Sets that are more than runs: with values or NULL.
  std::map<std::size_t, partition::PartitionSet> others_;
  std::vector<std::optional<std::set<std::string>>> columns_;
};

}  // namespace amend::state
