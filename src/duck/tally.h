#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace amend::duck {

/// What a statement adds up on its way. Connection::AddTally makes it an SQL function
/// that passes its first argument, the group, on and takes the others for that group:
///
///     COPY (SELECT *, tally(day, hash(a, b), hash(a)) AS part FROM …) TO …
///
/// Why: COPY tells nothing about the rows that it wrote but counts and bounds. To read
/// them back costs a seventh of a build; to keep them in a table for a second statement
/// costs as much and the memory.
///
/// The function is volatile, so that every row passes once; who reads the sums compares
/// rows with what the statement says it wrote.
///
/// Not thread-safe: AddTally sees to it that statements run on one thread, and nobody
/// reads while one runs.
class Tally {
 public:
  /// How the arguments after the group are taken, in this order.
  struct Shape {
    std::size_t sums = 0;   ///< added up modulo 2^64
    std::size_t lists = 0;  ///< kept one by one
  };
  /// In the order of the arguments.
  struct Group {
    std::int64_t rows = 0;
    std::vector<std::uint64_t> sums;
    std::vector<std::vector<std::uint64_t>> lists;
  };

  /// `most_listed`: how many values all lists may hold together, 8 bytes each.
  explicit Tally(std::size_t most_listed) : most_listed_(most_listed) {}

  /// Forgets everything. To be called before each statement that names the function.
  void Start(const Shape& shape);

  /// nullptr for a group that no row named.
  const Group* Find(std::int64_t group) const;
  /// False once more values came than may be kept; then all lists are empty.
  bool lists_complete() const { return lists_complete_; }

  std::size_t columns() const { return shape_.sums + shape_.lists; }
  /// Adds `rows` rows. REQUIRES: columns() columns.
  void Add(const std::int64_t* groups, const std::vector<const std::uint64_t*>& columns,
           std::size_t rows);

 private:
  Group& GroupOf(std::int64_t id);
  void AddRun(Group& group, const std::vector<const std::uint64_t*>& columns,
              std::size_t begin, std::size_t end);
  void DropLists();

  std::size_t most_listed_;
  Shape shape_;
  std::unordered_map<std::int64_t, Group> groups_;
  std::size_t listed_ = 0;
  bool lists_complete_ = true;
};

}  // namespace amend::duck
