#include "check/diff.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.h"

namespace amend::check {
namespace {

using lineage::Column;

const Column* FindColumn(const std::vector<Column>& columns, const std::string& name) {
  for (const Column& column : columns) {
    if (ToLower(column.name) == ToLower(name)) return &column;
  }
  return nullptr;
}

bool IsLandingColumn(const std::string& name) {
  return name == lineage::kFileColumn || name == lineage::kRowColumn;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&name](const std::string& other) {
    return ToLower(other) == ToLower(name);
  });
}

Status Broken(const ModelDiff& diff, const std::string& what) {
  return Internal("the review of '" + diff.model + "' does not add up: " + what)
      .Table(diff.model);
}

enum class CellDifference { kNone, kWithinTolerance, kDiffers };

CellDifference CompareCells(const Json& before, const Json& after, double tolerance) {
  if (before == after) return CellDifference::kNone;
  if (!before.is_number() || !after.is_number()) return CellDifference::kDiffers;
  const double a = before.get<double>();
  const double b = after.get<double>();
  if (std::isnan(a) && std::isnan(b)) return CellDifference::kNone;
  return std::abs(a - b) <= tolerance ? CellDifference::kWithinTolerance
                                      : CellDifference::kDiffers;
}

Json Cell(const Json& row, const std::string& column) {
  auto it = row.find(column);
  return it == row.end() ? Json(nullptr) : *it;
}

/// Text that is equal exactly for equal cells of these columns.
std::string BytesOf(const Json& row, const std::vector<std::string>& columns) {
  Json cells = Json::array();
  for (const std::string& column : columns) cells.push_back(Cell(row, column));
  return CanonicalJson(cells);
}

void CompareRows(const DiffSpec& spec, const Json& before, const Json& after,
                 PartitionDiff* diff) {
  bool changed = false;
  bool tolerated = false;
  for (const std::string& column : spec.columns) {
    auto limit = spec.tolerance.find(column);
    const double tolerance = limit == spec.tolerance.end() ? 0 : limit->second;
    switch (CompareCells(Cell(before, column), Cell(after, column), tolerance)) {
      case CellDifference::kNone:
        break;
      case CellDifference::kWithinTolerance:
        tolerated = true;
        break;
      case CellDifference::kDiffers:
        changed = true;
        ++diff->columns[column];
        break;
    }
  }
  diff->changed += changed ? 1 : 0;
  diff->within_tolerance += tolerated && !changed ? 1 : 0;
}

void DiffKeyed(const DiffSpec& spec, const std::vector<Json>& before,
               const std::vector<Json>& after, PartitionDiff* diff) {
  std::map<std::string, const Json*> old_rows;
  for (const Json& row : before) old_rows[BytesOf(row, spec.key)] = &row;
  for (const Json& row : after) {
    auto it = old_rows.find(BytesOf(row, spec.key));
    if (it == old_rows.end()) {
      ++diff->added;
      continue;
    }
    CompareRows(spec, *it->second, row, diff);
    old_rows.erase(it);
  }
  diff->removed = static_cast<std::int64_t>(old_rows.size());
}

void DiffMultiset(const DiffSpec& spec, const std::vector<Json>& before,
                  const std::vector<Json>& after, PartitionDiff* diff) {
  std::map<std::string, std::int64_t> balance;
  for (const Json& row : before) --balance[BytesOf(row, spec.columns)];
  for (const Json& row : after) ++balance[BytesOf(row, spec.columns)];
  for (const auto& [row, count] : balance) {
    diff->added += std::max<std::int64_t>(count, 0);
    diff->removed += std::max<std::int64_t>(-count, 0);
  }
}

/// Rows that are on both sides by key.
std::int64_t Stayed(const PartitionDiff& diff) { return diff.rows_after - diff.added; }

void RemarkOnColumns(const PartitionDiff& total, const DiffSpec& spec,
                     const std::vector<Column>& columns,
                     std::vector<std::string>* remarks) {
  for (const auto& [name, count] : total.columns) {
    if (count == Stayed(total) && count > 1 && !Contains(spec.only_after, name)) {
      remarks->push_back(name + " differs in every row that stayed");
    }
  }
  for (auto a = total.columns.begin(); a != total.columns.end(); ++a) {
    for (auto b = std::next(a); b != total.columns.end(); ++b) {
      const Column* first = FindColumn(columns, a->first);
      const Column* second = FindColumn(columns, b->first);
      if (a->second != b->second || a->second < 2 || first == nullptr ||
          second == nullptr || first->type != second->type) {
        continue;
      }
      remarks->push_back(a->first + " and " + b->first + " differ in as many rows (" +
                         GroupDigits(a->second) + ") and have one type: swapped?");
    }
  }
}

}  // namespace

std::string_view DiffModeName(DiffMode mode) {
  return mode == DiffMode::kKeyed ? "keyed" : "multiset";
}

DiffSpec DiffSpecFor(const lineage::Model& model, const std::vector<Column>& before,
                     const std::vector<Column>& after, bool key_is_unique) {
  DiffSpec spec;
  const bool has_key =
      !model.key.empty() &&
      std::all_of(model.key.begin(), model.key.end(), [&](const std::string& name) {
        return FindColumn(before, name) != nullptr && FindColumn(after, name) != nullptr;
      });
  if (has_key && key_is_unique) {
    spec.mode = DiffMode::kKeyed;
    spec.key = model.key;
  }
  for (const Column& column : after) {
    if (IsLandingColumn(column.name) || Contains(spec.key, column.name)) continue;
    const Column* old_column = FindColumn(before, column.name);
    if (old_column == nullptr) {
      spec.only_after.push_back(column.name);
    } else if (old_column->type != column.type) {
      spec.retyped.push_back(column.name);
    }
    spec.columns.push_back(column.name);
  }
  for (const Column& column : before) {
    if (!IsLandingColumn(column.name) && FindColumn(after, column.name) == nullptr) {
      spec.only_before.push_back(column.name);
    }
  }
  for (const lineage::ColumnContract& contract : model.contracts) {
    if (spec.mode == DiffMode::kKeyed && contract.tolerance > 0 &&
        Contains(spec.columns, contract.name)) {
      spec.tolerance[FindColumn(after, contract.name)->name] = contract.tolerance;
    }
  }
  return spec;
}

Status Verify(const ModelDiff& diff) {
  const std::set<std::string> known(diff.spec.columns.begin(), diff.spec.columns.end());
  const partition::Partition* last = nullptr;
  for (const PartitionDiff& part : diff.partitions) {
    if (last != nullptr && !(*last < part.partition)) {
      return Broken(diff, "partitions do not ascend");
    }
    last = &part.partition;
    if (part.rows_before - part.removed + part.added != part.rows_after) {
      return Broken(diff, "before - removed + added is not after");
    }
    if (part.added < 0 || part.removed < 0 || part.changed < 0 || Stayed(part) < 0 ||
        part.changed + part.within_tolerance > Stayed(part)) {
      return Broken(diff, "more rows differ than there are");
    }
    if (diff.spec.mode == DiffMode::kMultiset &&
        (part.changed != 0 || part.within_tolerance != 0 || !part.columns.empty())) {
      return Broken(diff, "rows compared as a multiset cannot have changed");
    }
    std::int64_t cells = 0;
    for (const auto& [column, count] : part.columns) {
      if (!known.contains(column)) return Broken(diff, "no column '" + column + "'");
      if (count < 0 || count > part.changed) {
        return Broken(diff, "'" + column + "' differs in more rows than changed");
      }
      cells += count;
    }
    if (cells < part.changed) return Broken(diff, "a row changed and no column did");
  }
  return Status();
}

PartitionDiff TotalOf(const ModelDiff& diff) {
  PartitionDiff total;
  for (const PartitionDiff& part : diff.partitions) {
    total.rows_before += part.rows_before;
    total.rows_after += part.rows_after;
    total.added += part.added;
    total.removed += part.removed;
    total.changed += part.changed;
    total.within_tolerance += part.within_tolerance;
    for (const auto& [column, count] : part.columns) total.columns[column] += count;
  }
  return total;
}

std::vector<std::string> Remarks(const ModelDiff& diff,
                                 const partition::PartitionSpace& space,
                                 const std::vector<Column>& columns) {
  std::vector<std::string> remarks;
  for (const std::string& name : diff.spec.only_before) {
    remarks.push_back(name + " is gone");
  }
  for (const std::string& name : diff.spec.only_after)
    remarks.push_back(name + " is new");
  for (const std::string& name : diff.spec.retyped) {
    remarks.push_back(name + " has another type");
  }
  const PartitionDiff total = TotalOf(diff);
  RemarkOnColumns(total, diff.spec, columns, &remarks);
  for (const PartitionDiff& part : diff.partitions) {
    if (part.rows_before > 0 && part.rows_after == 0) {
      remarks.push_back(space.Format(part.partition) + " ends empty, it had " +
                        GroupDigits(part.rows_before) + " rows");
    }
  }
  if (total.within_tolerance > 0) {
    remarks.push_back(GroupDigits(total.within_tolerance) +
                      " rows differ by no more than their tolerance and count as equal");
  }
  return remarks;
}

Json DiffToJson(const ModelDiff& diff, const partition::PartitionSpace& space,
                const std::vector<std::string>& remarks) {
  Json json = {{"model", diff.model},
               {"mode", DiffModeName(diff.spec.mode)},
               {"partitions", Json::array()}};
  for (const PartitionDiff& part : diff.partitions) {
    if (part.same()) continue;
    Json columns = Json::object();
    for (const auto& [column, count] : part.columns) columns[column] = count;
    json["partitions"].push_back({{"partition", space.Format(part.partition)},
                                  {"rows_before", part.rows_before},
                                  {"rows_after", part.rows_after},
                                  {"added", part.added},
                                  {"removed", part.removed},
                                  {"changed", part.changed},
                                  {"columns", std::move(columns)}});
  }
  json["remarks"] = remarks;
  return json;
}

PartitionDiff DiffRows(const DiffSpec& spec, const std::vector<Json>& before,
                       const std::vector<Json>& after) {
  PartitionDiff diff;
  diff.rows_before = static_cast<std::int64_t>(before.size());
  diff.rows_after = static_cast<std::int64_t>(after.size());
  if (spec.mode == DiffMode::kKeyed) {
    DiffKeyed(spec, before, after, &diff);
  } else {
    DiffMultiset(spec, before, after, &diff);
  }
  return diff;
}

}  // namespace amend::check
