#include "testing/reference_planner/story.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"
#include "lineage/extent.h"
#include "plan/planner.h"

namespace amend::reference {
namespace {

using partition::PartitionMapping;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Reach;
using partition::TimeMapping;
using partition::TimeRuns;

constexpr std::string_view kDots = "…";
constexpr std::string_view kInForce = "in force";  // the definition of every model

[[noreturn]] void Wrong(const std::string& line) {
  std::fprintf(stderr, "a story does not say it like this: %s\n", line.c_str());
  AMEND_CHECK(false);
}

/// The words of a line, and what is left after some of them.
struct Words {
  std::vector<std::string> words;
  std::size_t next = 0;
  std::string line;

  explicit Words(const std::string& text) : line(text) {
    for (const std::string& word : Split(text, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
  }
  bool done() const { return next == words.size(); }
  std::string Take() { return done() ? "" : words[next++]; }
  bool Take(std::string_view word) {
    if (done() || words[next] != word) return false;
    ++next;
    return true;
  }
  std::string Rest() {
    std::string rest;
    while (!done()) rest += (rest.empty() ? "" : " ") + Take();
    return rest;
  }
  /// Words up to `stop`, which is taken too.
  std::string Until(std::string_view stop) {
    std::string text;
    while (!done() && !Take(stop)) text += (text.empty() ? "" : " ") + Take();
    return text;
  }
};

PartitionSpace SpaceOf(const std::string& name, const std::string& line) {
  if (name == "whole") return PartitionSpace();
  auto grain = partition::ParseGrain(name);
  if (!grain) Wrong(line);
  return PartitionSpace::OfTime("ts", *grain);
}

TimeMapping MappingOf(Words* words) {
  TimeMapping time;
  if (words->Take("all")) return time;
  time.all = false;
  if (words->Take("same")) return time;
  if (words->Take("everything")) {
    words->Take("earlier");
    time.back = Reach::Unbounded();
    return time;
  }
  auto count = ParseInt(words->Take());
  std::string unit = words->Take();
  if (!unit.empty() && unit.back() == 's') unit.pop_back();
  auto grain = partition::ParseGrain(unit);
  if (!count || !grain) Wrong(words->line);
  if (words->Take("back")) {
    time.back = Reach::Of(*count, *grain);
  } else if (words->Take("ahead")) {
    time.ahead = Reach::Of(*count, *grain);
  } else if (words->Take("earlier")) {
    time.back = Reach::Of(*count, *grain);
    time.ahead = Reach::Of(-*count, *grain);
  } else {
    Wrong(words->line);
  }
  return time;
}

lineage::ColumnRef ColumnOf(const std::string& text) {
  std::vector<std::string> parts = Split(text, '.');
  if (parts.size() != 2) Wrong(text);
  return {parts[0], parts[1]};
}

}  // namespace

struct Story::Draft {
  std::vector<lineage::Source> sources;
  std::vector<lineage::BoundModelEntry> models;

  partition::Shape ShapeOf(const std::string& table) const {
    for (const auto& s : sources) {
      if (s.name == table) return s.space.shape();
    }
    for (const auto& m : models) {
      if (m.model.name == table) return m.model.space.shape();
    }
    Wrong("no table " + table);
  }
};

Story::Story(std::string_view text) {
  Draft draft;
  std::vector<std::string> facts;
  for (const std::string& raw : Split(text, '\n')) {
    std::string line(Trim(raw));
    if (line.empty()) continue;
    Words words(line);
    std::string first = words.Take();
    bool project = first == "source" || first == "model" || first == "from" ||
                   first == "union" || first == "lookup" || first == "column" ||
                   first == "rows" || first == "replay";
    if (project) {
      ReadProject(line, &draft);
    } else {
      facts.push_back(line);
    }
  }
  FinishProject(&draft);
  world_.now_micros = *ParseDay("2100-01-01") * kMicrosPerDay;
  for (const std::string& fact : facts) ReadFact(fact);
}

void Story::Then(std::string_view text) {
  for (const std::string& raw : Split(text, '\n')) {
    std::string line(Trim(raw));
    if (!line.empty()) ReadFact(line);
  }
}

void Story::ReadProject(const std::string& line, Draft* draft) {
  Words words(line);
  std::string what = words.Take();
  if (what == "source") {
    lineage::Source source;
    source.name = words.Take();
    source.space = SpaceOf(words.Take(), line);
    draft->sources.push_back(source);
    return;
  }
  if (what == "model") {
    lineage::BoundModelEntry entry;
    entry.model.name = words.Take();
    entry.model.space = SpaceOf(words.Take(), line);
    entry.definition = kInForce;
    draft->models.push_back(entry);
    return;
  }
  if (draft->models.empty()) Wrong(line);
  lineage::BoundModelEntry& entry = draft->models.back();
  if (what == "replay") {
    std::string policy = words.Take();
    entry.model.replay.code = policy == "none"  ? lineage::Replay::kNone
                              : policy == "ask" ? lineage::Replay::kAsk
                                                : lineage::Replay::kSince;
    if (policy == "since") entry.model.replay.code_since_day = ParseDay(words.Take());
    return;
  }
  if (what == "rows") {
    while (!words.done()) entry.bound.row_reads.insert(ColumnOf(words.Take()));
    return;
  }
  if (what == "column") {
    lineage::OutputColumn column;
    column.name = words.Until("=");
    while (!words.done()) column.reads.insert(ColumnOf(words.Take()));
    entry.bound.columns.push_back(column);
    return;
  }
  lineage::InputRef ref;
  ref.table = words.Take();
  partition::Shape input = draft->ShapeOf(ref.table);
  partition::Shape output = entry.model.space.shape();
  TimeMapping time = MappingOf(&words);
  time.all = time.all || !input.grain || !output.grain;
  ref.mapping = PartitionMapping::Make(input, output, time).value();
  if (what != "lookup") {
    TimeMapping own;
    own.all = !input.grain || !output.grain;
    ref.extent = PartitionMapping::Make(input, output, own).value();
    if (what == "union" || entry.bound.extents.empty())
      entry.bound.extents.emplace_back();
    entry.bound.extents.back().push_back(entry.bound.inputs.size());
  }
  entry.bound.inputs.push_back(ref);
}

void Story::FinishProject(Draft* draft) {
  for (lineage::BoundModelEntry& entry : draft->models) {
    lineage::BoundModel& bound = entry.bound;
    if (bound.columns.empty()) {
      lineage::OutputColumn all;
      all.name = "v";
      for (const auto& ref : bound.inputs) all.reads.insert({ref.table, "v"});
      bound.columns.push_back(all);
    }
    std::set<lineage::ColumnRef> reads = bound.row_reads;
    for (const auto& column : bound.columns) {
      reads.insert(column.reads.begin(), column.reads.end());
    }
    for (lineage::InputRef& ref : bound.inputs) {
      for (const auto& read : reads) {
        if (read.table == ref.table) ref.columns.insert(read.column);
      }
    }
  }
  auto lineage = lineage::Lineage::Make(draft->sources, draft->models);
  if (!lineage) Wrong(lineage.error().ToString());
  lineage_ = std::make_shared<const lineage::Lineage>(std::move(*lineage));
  world_.lineage = lineage_.get();
}

state::TableState& Story::TableOf(const std::string& name) {
  state::TableState& table =
      world_.tables.try_emplace(name, plan::EmptyTable(lineage_->SpaceOf(name)))
          .first->second;
  if (!table.head) table.head = state::Pin{name, 1, 1, 0, name + "-1"};
  return table;
}

PartitionSet Story::Range(const std::string& table, std::string_view text) const {
  const PartitionSpace& space = lineage_->SpaceOf(table);
  if (text == "all") return PartitionSet::All(space);
  if (text == "null") return PartitionSet::OfTimes(space.shape(), TimeRuns::Null());
  std::size_t dots = text.find(kDots);
  bool one = dots == std::string_view::npos;
  auto first = partition::ParsePeriod(Trim(text.substr(0, one ? text.size() : dots)));
  auto last =
      one ? first : partition::ParsePeriod(Trim(text.substr(dots + kDots.size())));
  if (!first || !last || first->grain() != space.shape().grain) Wrong(std::string(text));
  return PartitionSet::OfTimes(space.shape(),
                               TimeRuns::Of(first->ordinal(), last->ordinal() + 1));
}

void Story::ReadFact(const std::string& line) {
  Words words(line);
  std::string what = words.Take();
  if (what == "now") {
    world_.now_micros = *ParseDay(words.Take()) * kMicrosPerDay;
  } else if (what == "full") {
    world_.request.full = true;
  } else if (what == "select") {
    world_.request.select.push_back(words.Take());
  } else if (what == "partitions") {
    std::string name = words.Take();
    world_.request.partitions.emplace(name, Range(name, words.Rest()));
  } else if (what == "compare") {  // compare M DEFINITION columns|added|none a b
    std::string name = words.Take();
    auto& change = world_.code_changes[name][words.Take()];
    std::string kind = words.Take();
    change.kind = kind == "columns" ? lineage::CodeChange::Kind::kColumns
                  : kind == "added" ? lineage::CodeChange::Kind::kColumnsAdded
                                    : lineage::CodeChange::Kind::kNone;
    while (!words.done()) change.columns.insert(words.Take());
  } else {
    ReadTableFact(line);
  }
}

void Story::ReadTableFact(const std::string& line) {
  Words words(line);
  std::string what = words.Take();
  std::string name = words.Take();
  state::TableState& table = TableOf(name);
  if (what == "live") {
    table.live = table.live.Union(Range(name, words.Rest()));
  } else if (what == "drift") {
    table.drifted = table.drifted.Union(Range(name, words.Rest()));
  } else if (what == "size") {  // size T RANGE is ROWS BYTES, evenly spread
    PartitionSet at = Range(name, words.Until("is"));
    auto rows = ParseInt(words.Take());
    std::int64_t count = at.Count().value();
    table.sizes.Set(at, {*rows / count, *ParseInt(words.Take()) / count});
  } else if (what == "hold") {  // hold T RANGE by TEXT
    PartitionSet at = Range(name, words.Until("by"));
    table.holds.push_back(HoldOn(name, at, words.Rest()));
  } else if (what == "change") {  // change T RANGE [in a b] by CAUSE
    state::Change change;
    change.before = ++table.head->version;
    Words range(words.Until("by"));
    change.partitions = Range(name, range.Until("in"));
    if (!range.done()) change.columns.emplace();
    while (!range.done()) change.columns->insert(range.Take());
    change.cause = words.Rest();
    table.live = table.live.Union(change.partitions);
    table.changes.push_back(change);
  } else if (what == "record") {  // record M RANGE of DEFINITION
    PartitionSet at = Range(name, words.Until("of"));
    AddRecord(name, at, words.Rest());
  } else if (what == "built") {
    const lineage::BoundModelEntry* entry = lineage_->FindModel(name);
    auto rows_in = [&](const std::string& input) {
      return TableOf(input).live.Union(TableOf(input).built.Domain());
    };
    AddRecord(
        name,
        lineage::PossiblePartitions(entry->bound, entry->model.space.shape(), rows_in),
        std::string(kInForce));
  } else {
    Wrong(line);
  }
}

state::Hold Story::HoldOn(const std::string& name, const PartitionSet& at,
                          const std::string& by) {
  state::Hold hold;
  hold.table = name;
  hold.partitions = at;
  hold.by = by;
  // Closed books name nothing that could end them.
  if (!by.starts_with("rollback")) return hold;
  hold.definition = kInForce;
  for (const lineage::Edge* edge : lineage_->InputsOf(name)) {
    hold.input_versions[edge->from] = TableOf(edge->from).head->version;
  }
  return hold;
}

void Story::AddRecord(const std::string& name, const PartitionSet& at,
                      const std::string& definition) {
  state::BuildRecord record;
  record.definition = definition;
  for (const lineage::Edge* edge : lineage_->InputsOf(name)) {
    record.verified_at[edge->from] = TableOf(edge->from).head->version;
  }
  state::TableState& table = TableOf(name);
  table.built.Set(at, table.records.size());
  table.records.push_back(record);
  table.live = table.live.Union(at);
}

std::string Story::Plan() const {
  auto plan = plan::MakePlan(world_);
  if (!plan) return plan.error().ToString();
  std::string text;
  for (const state::ModelPlan& model : plan->models) {
    const PartitionSpace& space = lineage_->SpaceOf(model.model);
    text += fmt::format("{} {}", model.model, Describe(space, model.partitions, 9));
    if (model.changed_columns) {
      text += " in " +
              Join({model.changed_columns->begin(), model.changed_columns->end()}, ", ");
    }
    text += "\n";
    for (const state::Reason& reason : model.because) {
      text += fmt::format("  {}{}{}: {}\n", ReasonKindName(reason.kind),
                          reason.from.empty() ? "" : " ", reason.from, reason.text);
    }
  }
  if (plan->nothing_to_do()) text += "nothing\n";
  for (const state::SkippedModel& skipped : plan->skipped) {
    text += fmt::format("skipped {}: {}\n", skipped.model, skipped.why);
  }
  for (const state::HeldPartitions& held : plan->held) {
    text +=
        fmt::format("held {} {} by {}\n", held.model,
                    Describe(lineage_->SpaceOf(held.model), held.partitions, 9), held.by);
  }
  for (const state::Warning& warning : plan->warnings) {
    text += fmt::format("warning {}: {}\n", warning.code, warning.text);
  }
  return text;
}

void Story::Publish() {
  auto plan = plan::MakePlan(world_);
  AMEND_CHECK(plan.has_value());
  std::string cause = fmt::format("publication #{}", ++publications_);
  for (const state::ModelPlan& model : plan->models) {
    state::TableState& table = TableOf(model.model);
    ++table.head->version;
    AddRecord(model.model, model.partitions, model.definition);
    table.drifted = table.drifted.Difference(model.partitions);
    table.changes.push_back(
        {0, table.head->version, model.partitions, model.changed_columns, cause});
  }
  world_.request = {};
}

}  // namespace amend::reference
