#include "amend/commands.h"
#include "amend/plan_states.h"
#include "amend/twins.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend {
namespace {

double Seconds(std::int64_t micros) { return static_cast<double>(micros) / 1e6; }

Json ModelJson(const run::ModelOutcome& model) {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  for (const state::WriteSet& set : model.write_sets) {
    for (const state::StagedFile& file : set.files) {
      if (!model.changed.Contains(file.partition)) continue;
      rows += file.rows;
      bytes += file.bytes;
    }
  }
  Json json = Json::object();
  json["model"] = model.model;
  json["staged"] = model.changed.Count().value_or(0);
  json["unchanged"] = model.unchanged.Count().value_or(0);
  json["rows"] = rows;
  json["bytes_written"] = bytes;
  return json;
}

bool IsFinding(const state::Verdict& verdict) {
  return verdict.outcome == state::Outcome::kFail ||
         verdict.outcome == state::Outcome::kError;
}

std::string VerdictText(const state::Verdict& verdict) {
  return fmt::format("  {} {} · {} · {}: {}\n", verdict.blocks ? "!" : "-",
                     state::OutcomeName(verdict.outcome), verdict.model,
                     verdict.partition, verdict.text);
}

std::string Text(const state::Plan& plan, const run::RunOutcome& outcome) {
  std::string text = fmt::format(
      "{} {} · {} of {} tasks · {} reused, {} cut off, {} failed · {:.1f} s, {:.1f} CPU "
      "s\n",
      plan.id, run::RunStateName(outcome.state), outcome.done, outcome.total,
      outcome.reused, outcome.cut_off, outcome.failed, Seconds(outcome.wall_micros),
      Seconds(outcome.cpu_micros));
  for (const run::ModelOutcome& model : outcome.models) {
    Json json = ModelJson(model);
    text += fmt::format("  {:<24} {:>6} staged  {:>6} unchanged  {:>12} rows  {:>10}\n",
                        model.model, json["staged"].get<std::int64_t>(),
                        json["unchanged"].get<std::int64_t>(),
                        GroupDigits(json["rows"].get<std::int64_t>()),
                        HumanBytes(json["bytes_written"].get<std::int64_t>()));
    for (const state::Verdict& verdict : model.verdicts) {
      if (IsFinding(verdict)) text += VerdictText(verdict);
    }
  }
  for (const std::string& note : outcome.notes) text += "  - " + note + "\n";
  switch (outcome.state) {
    case run::RunState::kStaged:
      return text + "Next   amend review " + plan.id + "   or   amend publish " +
             plan.id + "\n";
    case run::RunState::kQuarantined:
      return text + "Next   correct the model or the source, then amend plan\n";
    case run::RunState::kNone:
    case run::RunState::kFailed:
      return text + "Next   amend stage " + plan.id + "   goes on where it stopped\n";
  }
  return text;
}

}  // namespace

Result<LoadedPlan> LoadPlan(Workspace& workspace, const std::string& id) {
  LoadedPlan loaded;
  AMEND_FAIL_IF_ERROR(
      workspace.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(loaded.stored, workspace.ledger().FindPlan(tx, id));
        return amend::Status();
      }));
  AMEND_ASSIGN(loaded.plan, state::PlanFromJson(loaded.stored.plan));
  return loaded;
}

Answer StageAnswer(const state::Plan& plan, const run::RunOutcome& outcome) {
  Answer answer;
  Json& json = answer.json;
  json["plan"] = plan.id;
  json["run"] = outcome.run;
  json["state"] = run::RunStateName(outcome.state);
  json["tasks"] = Json::object();
  json["tasks"]["total"] = outcome.total;
  json["tasks"]["done"] = outcome.done;
  json["tasks"]["reused"] = outcome.reused;
  json["tasks"]["cut_off"] = outcome.cut_off;
  json["tasks"]["failed"] = outcome.failed;
  json["models"] = Json::array();
  double estimate = 0;
  for (const run::ModelOutcome& model : outcome.models) {
    json["models"].push_back(ModelJson(model));
  }
  for (const state::ModelPlan& model : plan.models) estimate += model.estimate.seconds;
  json["verdicts"] = Json::array();
  for (const run::ModelOutcome& model : outcome.models) {
    for (const state::Verdict& verdict : model.verdicts) {
      if (IsFinding(verdict)) json["verdicts"].push_back(state::VerdictToJson(verdict));
    }
  }
  json["warnings"] = Json::array();
  for (const std::string& note : outcome.notes) {
    json["warnings"].push_back(Json{{"code", "journal"}, {"text", note}});
  }
  json["seconds"] = Seconds(outcome.wall_micros);
  json["cpu_seconds"] = Seconds(outcome.cpu_micros);
  json["estimate_seconds"] = estimate;
  answer.text = Text(plan, outcome);
  if (outcome.state == run::RunState::kQuarantined) answer.exit_code = 3;
  if (outcome.state == run::RunState::kFailed) answer.failure = outcome.failure;
  return answer;
}

namespace {

Result<Answer> StageLoaded(Workspace& w, const LoadedPlan& loaded,
                           const Progress& progress) {
  AMEND_ASSIGN(Gathered gathered,
               GatherWorld(w, loaded.plan.request, w.env().NowMicros()));
  AMEND_ASSIGN(run::RunWorld world, MakeRunWorld(w, loaded.plan, gathered));
  StagingOptions options;
  options.observe = progress;
  AMEND_ASSIGN(run::RunOutcome outcome, RunStaging(w, world, options));
  // What checks stopped can be looked at, too; half a run cannot.
  if (outcome.state != run::RunState::kFailed) {
    AMEND_FAIL_IF_ERROR(MakeTwins(w, world, outcome));
  }
  auto note = [&](db::Transaction& tx) {
    // Whoever stages it by name means it.
    if (loaded.stored.state == state::PlanState::kSuperseded) {
      AMEND_RETURN_IF_ERROR(
          w.ledger().SetPlanState(tx, loaded.plan.id, state::PlanState::kOpen));
    }
    return w.ledger().SetPlanRun(tx, loaded.plan.id, outcome.run, outcome.state);
  };
  AMEND_FAIL_IF_ERROR(w.InTransaction(db::TransactionMode::kWrite, note));
  return StageAnswer(loaded.plan, outcome);
}

}  // namespace

Result<Answer> Amend::Stage(const std::string& id, const Progress& progress) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  AMEND_ASSIGN(LoadedPlan loaded, LoadPlan(*workspace_, id));
  return UnlessConflict(*workspace_, loaded.plan.id,
                        StageLoaded(*workspace_, loaded, progress));
}

}  // namespace amend
