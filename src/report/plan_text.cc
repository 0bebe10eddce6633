#include "report/plan_text.h"

#include <algorithm>
#include <set>

#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::report {
namespace {

using partition::PartitionSet;
using state::ModelPlan;
using state::Plan;

/// Of a set without end nothing is counted: how many of it have rows is known after the
/// run.
std::int64_t CountOf(const PartitionSet& set) { return set.Count().value_or(0); }

bool Endless(const ModelPlan& model) { return !model.partitions.Count().has_value(); }

std::string_view StrategyOf(const ModelPlan&) { return "replace"; }

Json EstimateToJson(const state::Estimate& estimate) {
  Json json = Json::object();
  bool known = estimate.origin != state::Origin::kUnknown;
  json["rows"] = known ? Json(estimate.rows) : Json();
  json["bytes_read"] = known ? Json(estimate.bytes_read) : Json();
  json["bytes_written"] = known ? Json(estimate.bytes_written) : Json();
  json["seconds"] = known ? Json(estimate.seconds) : Json();
  json["origin"] = OriginName(estimate.origin);
  return json;
}

Json ModelToJson(const lineage::Lineage& lineage, const ModelPlan& model) {
  Json json = Json::object();
  json["model"] = model.model;
  json["strategy"] = StrategyOf(model);
  json["count"] = Endless(model) ? Json() : Json(CountOf(model.partitions));
  json["partitions"] = RangesToJson(lineage.SpaceOf(model.model), model.partitions);
  json["because"] = Json::array();
  for (const state::Reason& reason : model.because) {
    Json entry = Json::object();
    entry["from"] = reason.from;
    entry["kind"] = ReasonKindName(reason.kind);
    entry["text"] = reason.text;
    json["because"].push_back(std::move(entry));
  }
  json["estimate"] = EstimateToJson(model.estimate);
  return json;
}

std::string NothingBecause(const Plan& plan) {
  std::int64_t held = 0;
  for (const state::HeldPartitions& entry : plan.held) held += CountOf(entry.partitions);
  std::int64_t all = 0;
  std::int64_t open = 0;
  for (const auto& [model, counts] : plan.classes) {
    all += counts.total();
    open += counts.open;
  }
  std::string text = fmt::format("all {} partitions of {} models are current",
                                 GroupDigits(all - held - open), plan.classes.size());
  if (held > 0) text += fmt::format(", {} held", GroupDigits(held));
  if (open > 0) text += fmt::format(", {} still open", GroupDigits(open));
  return text;
}

/// "2001-03-05 … 2001-03-18" of the whole set, "all" where there is no time.
std::string Span(const partition::PartitionSpace& space, const PartitionSet& set) {
  constexpr std::int64_t kMostPoints = 1'000'000;
  if (!set.Count() && space.has_time()) {
    // "up to 2026-11-30": that NULL is one of them is said by PARTS.
    PartitionSet null = PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Null());
    return Describe(space, set.Difference(null), 1);
  }
  auto points = set.Points(kMostPoints);
  if (!points || points->empty()) return Describe(space, set, 1);
  std::string first = space.Format(points->front());
  std::string last = space.Format(points->back());
  return first == last ? first : first + " … " + last;
}

std::string GrainOf(const partition::PartitionSpace& space) {
  if (space.unpartitioned()) return "-";
  return space.has_time() ? std::string(GrainName(space.time()->grain)) : "value";
}

/// The nearest reason in words; several are joined.
std::string WhyOf(const ModelPlan& model) {
  std::vector<std::string> parts;
  std::set<std::string> seen;
  for (const state::Reason& reason : model.because) {
    std::string part = reason.text;
    if (reason.kind == state::ReasonKind::kUpstream && !reason.from.empty()) {
      part = reason.from + ": " + part;
    }
    if (seen.insert(part).second) parts.push_back(part);
  }
  if (parts.size() > 2) {
    std::size_t more = parts.size() - 2;
    parts.resize(2);
    parts.push_back(fmt::format("{} more", more));
  }
  return Join(parts, "; ");
}

/// Lines that start what is to be done: reasons that no other planned model explains.
std::vector<std::string> Causes(const Plan& plan) {
  std::vector<std::string> causes;
  std::set<std::string> seen;
  for (const ModelPlan& model : plan.models) {
    for (const state::Reason& reason : model.because) {
      if (!reason.standing) continue;
      std::string subject = reason.from.empty() ? model.model : reason.from;
      std::string line = subject + ": " + reason.text;
      if (seen.insert(line).second) causes.push_back(line);
    }
  }
  return causes;
}

std::string ReachLine(const Plan& plan) {
  std::int64_t planned = 0;
  std::int64_t all = 0;
  std::vector<std::string> endless;
  for (const ModelPlan& model : plan.models) {
    planned += CountOf(model.partitions);
    if (Endless(model)) endless.push_back(model.model);
  }
  for (const auto& [name, counts] : plan.classes) all += counts.total();
  double share =
      all == 0 ? 0 : 100.0 * static_cast<double>(planned) / static_cast<double>(all);
  if (!endless.empty()) {
    // A share of partitions that are not known yet would be a guess.
    std::string counted = planned > 0 ? GroupDigits(planned) + " partitions and " : "";
    return fmt::format("REACH  {} of {} models · {}all that {} gets rows in\n",
                       plan.models.size(), plan.classes.size(), counted,
                       Join(endless, ", "));
  }
  return fmt::format("REACH  {} of {} models · {} of {} partitions ({:.1f} %)\n",
                     plan.models.size(), plan.classes.size(), GroupDigits(planned),
                     GroupDigits(all), share);
}

std::string CostLine(const Plan& plan) {
  state::Estimate total;
  bool unknown = false;
  state::Origin origin = state::Origin::kMeasured;
  for (const ModelPlan& model : plan.models) {
    unknown = unknown || model.estimate.origin == state::Origin::kUnknown;
    origin = std::min(origin, model.estimate.origin);
    total.rows += model.estimate.rows;
    total.bytes_read += model.estimate.bytes_read;
    total.bytes_written += model.estimate.bytes_written;
    total.seconds += model.estimate.seconds;
  }
  if (unknown) return "COST   unknown: some of its tables were never built\n";
  std::string text = fmt::format(
      "COST   {} read · {} staged · {} rows ({})\n", HumanBytes(total.bytes_read),
      HumanBytes(total.bytes_written), GroupDigits(total.rows), OriginName(origin));
  return text;
}

std::string ModelLines(const lineage::Lineage& lineage, const Plan& plan) {
  std::size_t width = 5;
  for (const ModelPlan& model : plan.models) width = std::max(width, model.model.size());
  std::string text = fmt::format("  {:<{}}  {:<7} {:>7}  {:<27}  {}\n", "MODEL", width,
                                 "GRAIN", "PARTS", "FIRST … LAST", "WHY");
  for (const ModelPlan& model : plan.models) {
    const partition::PartitionSpace& space = lineage.SpaceOf(model.model);
    text += fmt::format("  {:<{}}  {:<7} {:>7}  {:<27}  {}\n", model.model, width,
                        GrainOf(space),
                        Endless(model) ? "all" : GroupDigits(CountOf(model.partitions)),
                        Span(space, model.partitions), WhyOf(model));
  }
  return text;
}

std::string Exceptions(const lineage::Lineage& lineage, const Plan& plan) {
  std::string text;
  if (!plan.skipped.empty()) {
    text += fmt::format("  {} skipped:\n", plan.skipped.size());
    for (const state::SkippedModel& skipped : plan.skipped) {
      text += fmt::format("    {}: {}\n", skipped.model, skipped.why);
    }
  }
  for (const state::Warning& warning : plan.warnings) {
    text += fmt::format("! {}  {}\n", warning.code, warning.text);
  }
  for (const state::HeldPartitions& held : plan.held) {
    text += fmt::format("! HELD  {} {} by {}: {}\n", held.model,
                        Describe(lineage.SpaceOf(held.model), held.partitions), held.by,
                        held.until);
  }
  return text;
}

}  // namespace

Json PlanToAnswer(const lineage::Lineage& lineage, const Plan& plan) {
  Json json = Json::object();
  json["plan"] = plan.nothing_to_do() ? Json() : Json(plan.id);
  json["nothing_to_do"] = plan.nothing_to_do();
  json["nothing_to_do_because"] =
      plan.nothing_to_do() ? Json(NothingBecause(plan)) : Json();
  json["reason"] = plan.reason;
  json["models"] = Json::array();
  for (const ModelPlan& model : plan.models) {
    json["models"].push_back(ModelToJson(lineage, model));
  }
  json["skipped"] = Json::array();
  for (const state::SkippedModel& skipped : plan.skipped) {
    json["skipped"].push_back(Json{{"model", skipped.model}, {"why", skipped.why}});
  }
  json["held"] = Json::array();
  for (const state::HeldPartitions& held : plan.held) {
    Json entry = Json::object();
    entry["model"] = held.model;
    entry["partitions"] = RangesToJson(lineage.SpaceOf(held.model), held.partitions);
    entry["by"] = held.by;
    entry["until"] = held.until;
    json["held"].push_back(std::move(entry));
  }
  json["warnings"] = Json::array();
  for (const state::Warning& warning : plan.warnings) {
    json["warnings"].push_back(Json{{"code", warning.code}, {"text", warning.text}});
  }
  return json;
}

std::string PlanToText(const lineage::Lineage& lineage, const Plan& plan) {
  if (plan.nothing_to_do()) {
    return "Nothing to do: " + NothingBecause(plan) + ".\n" + Exceptions(lineage, plan);
  }
  std::string text = fmt::format("Plan {} · {} · nothing computed, nothing changed\n",
                                 plan.id, FormatMicros(plan.created_micros));
  std::vector<std::string> causes = Causes(plan);
  constexpr std::size_t kMostCauses = 4;
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) {
    text += fmt::format("{}  {}\n", i == 0 ? "CAUSE" : "     ", causes[i]);
  }
  if (causes.size() > kMostCauses) {
    text += fmt::format("       and {} more\n", causes.size() - kMostCauses);
  }
  text += ReachLine(plan);
  text += CostLine(plan);
  bool needs = !plan.held.empty() || !plan.warnings.empty();
  text += needs ? fmt::format("NEEDS  ! a look at {} warnings, {} held\n",
                              plan.warnings.size(), plan.held.size())
                : "NEEDS  nothing\n";
  text += ModelLines(lineage, plan);
  text += Exceptions(lineage, plan);
  text += fmt::format("Next   amend stage {}\n", plan.id);
  return text;
}

}  // namespace amend::report
