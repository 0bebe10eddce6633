#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace amend {

/// A map as one sorted vector of pairs: for small maps of which there are very many, such
/// as the column metrics of a data file. Against std::map it takes one allocation instead
/// of one an entry, is copied several times faster and is read in order of memory.
/// Appending in ascending order is O(1), any other insertion O(n).
///
/// Iterators and references live until the next insertion. As thread-safe as a vector.
template <typename Key, typename Value>
class FlatMap {
 public:
  using value_type = std::pair<Key, Value>;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  FlatMap() = default;
  FlatMap(std::initializer_list<value_type> entries)
      : FlatMap(std::vector<value_type>(entries)) {}
  /// From entries in any order; of equal keys the last counts. O(n) where they ascend.
  explicit FlatMap(std::vector<value_type> entries) : entries_(std::move(entries)) {
    auto ascend = [](const value_type& a, const value_type& b) {
      return a.first < b.first;
    };
    auto not_above = [](const value_type& a, const value_type& b) {
      return !(a.first < b.first);
    };
    if (std::adjacent_find(entries_.begin(), entries_.end(), not_above) ==
        entries_.end()) {
      return;
    }
    std::stable_sort(entries_.begin(), entries_.end(), ascend);
    // unique keeps the first of equals, which from behind is the last.
    auto from = std::unique(
        entries_.rbegin(), entries_.rend(),
        [](const value_type& a, const value_type& b) { return a.first == b.first; });
    entries_.erase(entries_.begin(), from.base());
  }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// Ascending by key.
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }

  const_iterator find(const Key& key) const {
    auto at = std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const value_type& entry, const Key& k) { return entry.first < k; });
    return at != entries_.end() && at->first == key ? at : entries_.end();
  }

  /// The value of a key, made where there is none.
  Value& operator[](const Key& key) {
    auto at = LowerBound(key);
    if (at == entries_.end() || at->first != key) at = entries_.emplace(at, key, Value());
    return at->second;
  }

  friend bool operator==(const FlatMap&, const FlatMap&) = default;

 private:
  typename std::vector<value_type>::iterator LowerBound(const Key& key) {
    if (entries_.empty() || entries_.back().first < key) return entries_.end();
    return std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const value_type& entry, const Key& k) { return entry.first < k; });
  }

  std::vector<value_type> entries_;
};

}  // namespace amend
