#include "sql/inputs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sql/facts.h"
#include "sql/flow.h"

namespace amend::sql {
namespace {

using partition::Dimension;
using partition::PartitionMapping;
using partition::PartitionSpace;
using partition::TimeMapping;

/// The demand for one output partition: a period k, or NULL.
Demand RootDemand(const FlowRequest& request, bool null_partition) {
  Demand demand;
  int value_index = 0;
  const auto& dimensions = request.output.dimensions();
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    std::size_t column = request.positions[i];
    if (dimensions[i].kind != Dimension::Kind::kTime) {
      demand.Add(column, Need::Dimension(value_index++));
    } else if (!dimensions[i].zone.empty()) {
      continue;  // Local time is not followed.
    } else if (null_partition) {
      demand.Add(column, {std::nullopt, true, std::nullopt});
    } else {
      demand.Add(column, {Span{}, false, std::nullopt});
    }
  }
  return demand;
}

/// What reached one scan for a period k and for NULL; null where nothing did.
struct Reached {
  const Operator* scan = nullptr;
  const Demand* period = nullptr;
  const Demand* null = nullptr;
};

using Scans = std::map<ScanPath, Flow::Scan>;

Reached Find(const ScanPath& path, const Scans& period, const Scans& null) {
  Reached reached;
  if (auto it = period.find(path); it != period.end()) {
    reached.scan = it->second.op;
    reached.period = &it->second.demand;
  }
  if (auto it = null.find(path); it != null.end()) {
    reached.scan = it->second.op;
    reached.null = &it->second.demand;
  }
  return reached;
}

/// The need that a demand puts on a column of the scan, by name.
Need NeedOf(const Demand* demand, const Operator& scan, const std::string& column) {
  if (demand == nullptr) return Need{};
  std::vector<std::string> columns = ScanColumns(scan);
  auto it = std::find(columns.begin(), columns.end(), column);
  if (it == columns.end()) return Need::Everything();
  const Need* need = demand->Find(static_cast<std::size_t>(it - columns.begin()));
  return need != nullptr ? *need : Need::Everything();
}

TimeMapping TimeOf(const Reached& reached, const PartitionSpace& input,
                   const PartitionSpace& output) {
  TimeMapping all;
  if (input.time() == nullptr || output.time() == nullptr) return all;
  if (!input.time()->zone.empty() || !output.time()->zone.empty()) return all;
  Need period = NeedOf(reached.period, *reached.scan, input.time()->column);
  Need null = NeedOf(reached.null, *reached.scan, input.time()->column);
  // Nothing but NULL, or nothing at all, is needed by any period: the least window.
  Span span = period.times.value_or(Span{});
  if (span.everything()) return all;
  TimeMapping time;
  time.all = false;
  time.back = span.low.ToReach();
  time.ahead = span.high.ToReach();
  time.null_to_all = period.null;
  time.null_to_null = null.null;
  time.all_to_null = null.times.has_value();
  return time;
}

bool Same(const Dimension& a, const Dimension& b) {
  return a.kind == b.kind && a.type == b.type && a.buckets == b.buckets;
}

std::vector<std::optional<int>> ValuesOf(const Reached& reached,
                                         const PartitionSpace& input,
                                         const PartitionSpace& output) {
  std::vector<std::optional<int>> values(output.value_dimensions().size());
  for (std::size_t i = 0; i < input.value_dimensions().size(); ++i) {
    const Dimension& dimension = input.value_dimensions()[i];
    std::optional<int> carried;
    bool agree = true;
    for (const Demand* demand : {reached.period, reached.null}) {
      if (demand == nullptr) continue;
      auto from = NeedOf(demand, *reached.scan, dimension.column).dimension;
      agree = agree && from && (!carried || carried == from);
      carried = from;
    }
    if (!agree || !carried) continue;
    auto j = static_cast<std::size_t>(*carried);
    if (Same(dimension, output.value_dimensions()[j])) values[j] = static_cast<int>(i);
  }
  return values;
}

PartitionMapping MappingOf(const Reached& reached, const PartitionSpace& input,
                           const PartitionSpace& output) {
  auto mapping = PartitionMapping::Make(input.shape(), output.shape(),
                                        TimeOf(reached, input, output),
                                        ValuesOf(reached, input, output));
  return mapping ? *mapping : PartitionMapping::All(input.shape(), output.shape());
}

/// The same window and values; the flags about NULL may differ.
bool SameButForNull(const PartitionMapping& a, const PartitionMapping& b) {
  const TimeMapping& x = a.time();
  const TimeMapping& y = b.time();
  return x.all == y.all && x.back == y.back && x.ahead == y.ahead &&
         a.ToJson()["values"] == b.ToJson()["values"];
}

/// REQUIRES: SameButForNull.
PartitionMapping UnionOf(const PartitionMapping& a, const PartitionMapping& b) {
  TimeMapping time = a.time();
  time.null_to_null = time.null_to_null || b.time().null_to_null;
  time.null_to_all = time.null_to_all || b.time().null_to_all;
  time.all_to_null = time.all_to_null || b.time().all_to_null;
  std::vector<std::optional<int>> values;
  if (const Json carried = a.ToJson()["values"]; carried.is_array()) {
    for (const Json& from : carried) values.emplace_back(from.get<int>());
  }
  auto both = PartitionMapping::Make(a.input(), a.output(), time, values);
  return both ? *both : PartitionMapping::All(a.input(), a.output());
}

/// Gathers references. Those of one table that say the same become one.
class Collector {
 public:
  explicit Collector(const FlowRequest& request) : request_(request) {}

  std::size_t Add(const Operator& scan, PartitionMapping mapping,
                  std::optional<PartitionMapping> extent) {
    lineage::InputRef ref;
    ref.table = ScanTable(scan);
    for (const std::string& column : ScanColumns(scan)) {
      if (request_.read.contains({ref.table, column})) ref.columns.insert(column);
    }
    ref.mapping = std::move(mapping);
    ref.extent = std::move(extent);
    ref.why = ref.mapping.ToString();
    for (std::size_t i = 0; i < inputs_.refs.size(); ++i) {
      if (MergeInto(inputs_.refs[i], ref)) return i;
    }
    inputs_.refs.push_back(std::move(ref));
    return inputs_.refs.size() - 1;
  }

  std::size_t AddAll(const Operator& scan) {
    const PartitionSpace& input = SpaceOf(scan);
    return Add(scan, PartitionMapping::All(input.shape(), request_.output.shape()),
               std::nullopt);
  }

  const PartitionSpace& SpaceOf(const Operator& scan) const {
    return request_.spaces.at(ScanTable(scan));
  }

  Inputs& inputs() { return inputs_; }

 private:
  static bool MergeInto(lineage::InputRef& known, const lineage::InputRef& ref) {
    bool extents_agree = !known.extent || !ref.extent || known.extent == ref.extent;
    if (known.table != ref.table || !extents_agree) return false;
    if (known.mapping != ref.mapping) return false;
    if (!known.extent) known.extent = ref.extent;
    known.columns.insert(ref.columns.begin(), ref.columns.end());
    return true;
  }

  const FlowRequest& request_;
  Inputs inputs_;
};

/// One way from a scan to the output, with what flows on it.
struct Way {
  ScanPath path;
  const Operator* scan = nullptr;
  PartitionMapping mapping;
  std::optional<PartitionMapping> extent;
};

/// Ways of one table whose mappings differ only about NULL take the union; where one
/// needs everything, all do. The union over them stays the same, and they read as one.
void Unify(std::vector<Way>* ways) {
  std::set<std::string> whole;
  for (const Way& way : *ways) {
    if (way.mapping.is_all()) whole.insert(ScanTable(*way.scan));
  }
  for (Way& way : *ways) {
    if (whole.contains(ScanTable(*way.scan))) {
      way.mapping = PartitionMapping::All(way.mapping.input(), way.mapping.output());
    }
    for (Way& other : *ways) {
      if (ScanTable(*way.scan) == ScanTable(*other.scan) &&
          SameButForNull(way.mapping, other.mapping)) {
        way.mapping = UnionOf(way.mapping, other.mapping);
      }
    }
  }
}

void CollectScans(const Operator& op, std::vector<const Operator*>* scans) {
  if (!ScanTable(op).empty()) scans->push_back(&op);
  for (const Operator& child : op.children) CollectScans(child, scans);
}

/// All branches of both flows, or none where one of them always holds.
std::vector<Flow::Branch> BranchesOf(const Flow& period, const Flow& null) {
  std::vector<Flow::Branch> branches;
  for (const Flow* flow : {&period, &null}) {
    if (flow->gave_up()) return {};
    for (const Flow::Branch& branch : flow->branches()) {
      if (branch.empty()) return {};
      if (std::find(branches.begin(), branches.end(), branch) == branches.end()) {
        branches.push_back(branch);
      }
    }
  }
  return branches;
}

}  // namespace

Inputs InputsOf(const FlowRequest& request, const IntervalReader& read_interval) {
  const PartitionSpace& output = request.output;
  // Without a time dimension no span is ever demanded; the grain does not matter then.
  TimeFunctions times(output.shape().grain.value_or(partition::Grain::kDay),
                      read_interval);
  Demand period = RootDemand(request, false);
  Demand null = RootDemand(request, true);
  Collector collector(request);
  std::vector<const Operator*> scans;
  CollectScans(*request.root, &scans);
  Flow needed = Flow::Needed(*request.root, period, times);
  Flow needed_null = Flow::Needed(*request.root, null, times);
  if (needed.gave_up() || needed_null.gave_up()) {
    for (const Operator* scan : scans) collector.AddAll(*scan);
    return std::move(collector.inputs());
  }
  Flow existing = Flow::Existing(*request.root, period, times);
  Flow existing_null = Flow::Existing(*request.root, null, times);

  std::vector<Flow::Branch> branches = BranchesOf(existing, existing_null);
  std::set<ScanPath> in_branches;
  for (const Flow::Branch& branch : branches) {
    in_branches.insert(branch.begin(), branch.end());
  }
  std::set<ScanPath> paths = in_branches;
  for (const auto& [path, scan] : needed.scans()) paths.insert(path);
  for (const auto& [path, scan] : needed_null.scans()) paths.insert(path);

  std::vector<Way> ways;
  std::set<int> reached_scans;
  for (const ScanPath& path : paths) {
    Reached need = Find(path, needed.scans(), needed_null.scans());
    Reached exist = Find(path, existing.scans(), existing_null.scans());
    // A way that only existence takes needs no more than it.
    if (need.scan == nullptr) need = exist;
    const PartitionSpace& input = collector.SpaceOf(*need.scan);
    Way way{path, need.scan, MappingOf(need, input, output), std::nullopt};
    if (in_branches.contains(path)) way.extent = MappingOf(exist, input, output);
    ways.push_back(std::move(way));
    reached_scans.insert(need.scan->id);
  }
  Unify(&ways);
  std::map<ScanPath, std::size_t> index;
  for (Way& way : ways) {
    index[way.path] =
        collector.Add(*way.scan, std::move(way.mapping), std::move(way.extent));
  }
  // Rows of it cannot matter; the statement names it all the same.
  for (const Operator* scan : scans) {
    if (!reached_scans.contains(scan->id)) collector.AddAll(*scan);
  }
  Inputs& inputs = collector.inputs();
  for (const Flow::Branch& branch : branches) {
    std::set<std::size_t> members;
    for (const ScanPath& path : branch) members.insert(index.at(path));
    inputs.extents.emplace_back(members.begin(), members.end());
  }
  return std::move(inputs);
}

}  // namespace amend::sql
