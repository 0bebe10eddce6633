#include "duck/tally.h"

#include <numeric>

namespace amend::duck {

void Tally::Start(const Shape& shape) {
  shape_ = shape;
  groups_.clear();
  listed_ = 0;
  lists_complete_ = true;
}

const Tally::Group* Tally::Find(std::int64_t group) const {
  auto it = groups_.find(group);
  return it == groups_.end() ? nullptr : &it->second;
}

Tally::Group& Tally::GroupOf(std::int64_t id) {
  auto [it, fresh] = groups_.try_emplace(id);
  if (fresh) {
    it->second.sums.resize(shape_.sums);
    it->second.lists.resize(shape_.lists);
  }
  return it->second;
}

void Tally::Add(const std::int64_t* groups,
                const std::vector<const std::uint64_t*>& columns, std::size_t rows) {
  listed_ += rows * shape_.lists;
  if (lists_complete_ && listed_ > most_listed_) DropLists();
  // Neighbours are often of one group: a run is looked up once.
  for (std::size_t begin = 0; begin < rows;) {
    std::size_t end = begin + 1;
    while (end < rows && groups[end] == groups[begin]) ++end;
    AddRun(GroupOf(groups[begin]), columns, begin, end);
    begin = end;
  }
}

void Tally::AddRun(Group& group, const std::vector<const std::uint64_t*>& columns,
                   std::size_t begin, std::size_t end) {
  group.rows += static_cast<std::int64_t>(end - begin);
  for (std::size_t i = 0; i < shape_.sums; ++i) {
    group.sums[i] = std::accumulate(columns[i] + begin, columns[i] + end, group.sums[i]);
  }
  if (!lists_complete_) return;
  for (std::size_t i = 0; i < shape_.lists; ++i) {
    const std::uint64_t* column = columns[shape_.sums + i];
    group.lists[i].insert(group.lists[i].end(), column + begin, column + end);
  }
}

void Tally::DropLists() {
  lists_complete_ = false;
  for (auto& [id, group] : groups_) {
    for (std::vector<std::uint64_t>& list : group.lists) list = {};
  }
}

}  // namespace amend::duck
