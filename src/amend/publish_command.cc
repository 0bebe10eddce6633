#include "amend/commands.h"
#include "amend/plan_states.h"
#include "check/judge.h"
#include "fmt/format.h"
#include "plan/planner.h"

namespace amend {
namespace {

std::string SamplesOf(const std::vector<state::Verdict>& verdicts,
                      const std::string& write_set, const check::Objection& objection) {
  std::string samples;
  for (const state::Verdict& verdict : verdicts) {
    if (verdict.write_set != write_set || verdict.check != objection.check ||
        verdict.partition != objection.partition) {
      continue;
    }
    for (const Json& sample : verdict.samples) samples += "\n    " + sample.dump();
  }
  return samples;
}

/// The first thing that stands against publishing, as the refusal that names it: a check
/// that failed, or one that was never asked of what is staged.
std::optional<amend::Status> Blocking(const Workspace& workspace,
                                      const run::RunOutcome& outcome) {
  for (const run::ModelOutcome& model : outcome.models) {
    const lineage::Model& definition = workspace.lineage().FindModel(model.model)->model;
    for (const state::WriteSet& set : model.write_sets) {
      for (const check::Objection& objection :
           check::Objections(definition, set.name, model.verdicts)) {
        return Refused(fmt::format("check {} stopped it: {}{}", objection.check,
                                   objection.text,
                                   SamplesOf(model.verdicts, set.name, objection)))
            .Table(model.model)
            .Partition(objection.partition)
            .Hint(
                "Nothing was published. Correct the model or the source and plan again.");
      }
    }
  }
  return std::nullopt;
}

/// What became of a plan: its publication, and the rollback that took that back.
struct PlanEntries {
  std::optional<ledger::Entry> publication;
  std::optional<ledger::Entry> rollback;
};

Result<PlanEntries> EntriesOfPlan(Workspace& workspace, const std::string& plan) {
  std::vector<ledger::Entry> entries;
  AMEND_FAIL_IF_ERROR(
      workspace.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(entries, workspace.ledger().Entries(tx));
        return amend::Status();
      }));
  PlanEntries found;
  for (ledger::Entry& entry : entries) {
    if (entry.kind == ledger::EntryKind::kPublish && entry.plan == plan) {
      found.publication = std::move(entry);
    } else if (found.publication && entry.rolls_back == found.publication->number) {
      found.rollback = std::move(entry);
    }
  }
  return found;
}

/// What a person took back does not come again by an old plan's id: nothing moves, and
/// "already done" would be wrong.
amend::Status TakenBack(const state::Plan& plan, const PlanEntries& entries) {
  return Conflict(fmt::format("{} was published as #{} and taken back by #{}", plan.id,
                              entries.publication->number, entries.rollback->number))
      .Hint(
          "Nothing moved. To publish it again, end the holds of the rollback "
          "(amend release MODEL), then amend plan.");
}

/// Partitions that were held after the plan was made (a rollback takes them back, and
/// their files are again what the plan saw): no plan may write them. What a plan of now
/// holds is asked, not what is on hold: a hold gives way where an input of it is planned.
amend::Status RefuseHeld(const Gathered& gathered, const state::Plan& plan) {
  AMEND_ASSIGN_OR_RETURN(state::Plan now, plan::MakePlan(gathered.world));
  for (const state::ModelPlan& model : plan.models) {
    for (const state::HeldPartitions& entry : now.held) {
      if (entry.model != model.model) continue;
      partition::PartitionSet held = model.partitions.Intersect(entry.partitions);
      if (held.empty()) continue;
      return Conflict(
                 fmt::format("{} of {} are held since the plan was made",
                             Describe(gathered.world.lineage->SpaceOf(model.model), held),
                             model.model))
          .Table(model.model)
          .Hint("Plan again, or end the hold: amend release " + model.model + ".");
    }
  }
  return {};
}

std::string Text(const ledger::Entry& entry, bool again) {
  std::string what = std::string(EntryKindName(entry.kind));
  if (again)
    return fmt::format("Already done: {} #{}. Nothing moved.\n", what, entry.number);
  std::string text =
      fmt::format("{} #{} confirmed: readers see it\n", what, entry.number);
  if (entry.no_op) text += "  nothing differed from what is published; no table moved\n";
  for (const ledger::EntryTable& table : entry.tables) {
    if (table.snapshot_id == 0) continue;
    text += fmt::format("  {:<24} snapshot {} → {}\n", table.table,
                        table.previous_snapshot_id, table.snapshot_id);
  }
  if (entry.kind == ledger::EntryKind::kPublish && !entry.no_op) {
    text += fmt::format("Next   amend rollback {}   takes it back\n", entry.number);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<FileLock>> BeginWriting(Workspace& workspace) {
  auto lock = workspace.env().TryLock(workspace.LockPath());
  if (!lock) {
    if (lock.error().code() != StatusCode::kTransient) return lock;
    return Fail(Transient("another amend command is writing to the catalog " +
                          AbsolutePath(workspace.project().catalog))
                    .Hint("Wait for it, then run the same command again."));
  }
  AMEND_FAIL_IF_ERROR(workspace.MakePublisher().Recover());
  return lock;
}

Answer PublishedAnswer(Workspace&, const ledger::Entry& entry, bool again) {
  Answer answer;
  answer.json["publication"] = entry.number;
  answer.json["kind"] = EntryKindName(entry.kind);
  answer.json["no_op"] = entry.no_op || again;
  answer.json["tables"] = Json::array();
  for (const ledger::EntryTable& table : entry.tables) {
    if (table.snapshot_id == 0) continue;
    Json json = Json::object();
    json["table"] = table.table;
    json["snapshot"] = table.snapshot_id;
    json["previous_snapshot"] =
        table.previous_snapshot_id == 0 ? Json() : Json(table.previous_snapshot_id);
    json["partitions"] = table.changed;
    answer.json["tables"].push_back(std::move(json));
  }
  answer.text = Text(entry, again);
  return answer;
}

Result<Answer> RunPublication(Workspace& workspace,
                              const publish::Publication& publication) {
  publish::Publisher publisher = workspace.MakePublisher();
  AMEND_ASSIGN(publish::Published published, publisher.Publish(publication));
  std::optional<ledger::Entry> entry;
  AMEND_FAIL_IF_ERROR(
      workspace.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(entry, workspace.ledger().FindEntry(tx, published.number));
        return amend::Status();
      }));
  if (!entry) return Fail(Internal("a confirmed publication has no ledger row"));
  return PublishedAnswer(workspace, *entry, false);
}

namespace {

Result<Answer> PublishLoaded(Workspace& w, const LoadedPlan& loaded) {
  AMEND_ASSIGN(PlanEntries done, EntriesOfPlan(w, loaded.plan.id));
  if (done.rollback) return Fail(TakenBack(loaded.plan, done));
  if (done.publication) return PublishedAnswer(w, *done.publication, true);
  AMEND_ASSIGN(Gathered gathered,
               GatherWorld(w, loaded.plan.request, w.env().NowMicros()));
  AMEND_FAIL_IF_ERROR(RefuseHeld(gathered, loaded.plan));
  AMEND_ASSIGN(run::RunWorld world, MakeRunWorld(w, loaded.plan, gathered));
  StagingOptions options;
  options.only_finished = true;
  AMEND_ASSIGN(run::RunOutcome outcome, RunStaging(w, world, options));
  if (auto refusal = Blocking(w, outcome)) return Fail(*std::move(refusal));
  if (outcome.state != run::RunState::kStaged) return Fail(outcome.failure);
  AMEND_ASSIGN(
      publish::Publication publication,
      PreparePublication(w, world, outcome, gathered,
                         {w.env().UserName(), loaded.plan.reason, loaded.plan.ticket}));
  return RunPublication(w, publication);
}

}  // namespace

Result<Answer> Amend::Publish(const std::string& id) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  AMEND_ASSIGN(LoadedPlan loaded, LoadPlan(*workspace_, id));
  return UnlessConflict(*workspace_, loaded.plan.id, PublishLoaded(*workspace_, loaded));
}

Result<Answer> Amend::Backfill(const PlanOptions& options, const Progress& progress,
                               const Confirmation& confirm) {
  AMEND_ASSIGN(MadePlan made, MakeStoredPlan(*workspace_, options));
  Answer plan = PlanAnswer(*workspace_, made);
  Answer answer;
  answer.json["plan"] = plan.json;
  answer.json["stage"] = nullptr;
  answer.json["publish"] = nullptr;
  answer.text = plan.text;
  if (made.plan.nothing_to_do()) return answer;
  AMEND_ASSIGN(const bool go_on, confirm(plan.text));
  if (!go_on) {
    answer.text += "Nothing was done.\n";
    return answer;
  }
  AMEND_ASSIGN(Answer stage, Stage(made.plan.id, progress));
  answer.json["stage"] = stage.json;
  answer.text += stage.text;
  answer.exit_code = stage.exit_code;
  answer.failure = stage.failure;
  if (stage.exit_code != 0 || !stage.failure.ok()) return answer;
  AMEND_ASSIGN(Answer publish, Publish(made.plan.id));
  answer.json["publish"] = publish.json;
  answer.text += publish.text;
  return answer;
}

Result<Answer> Amend::Rollback(const RollbackOptions& options) {
  const std::int64_t number = options.number;
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  std::vector<ledger::Entry> entries;
  AMEND_FAIL_IF_ERROR(
      workspace_->InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(entries, workspace_->ledger().Entries(tx));
        return amend::Status();
      }));
  const ledger::Entry* wanted = nullptr;
  for (const ledger::Entry& entry : entries) {
    if (entry.number == number) wanted = &entry;
    if (entry.rolls_back == number) return PublishedAnswer(*workspace_, entry, true);
  }
  if (wanted == nullptr) {
    return Fail(NotFound(fmt::format("there is no #{}", number))
                    .Hint("amend pins says the latest number, amend show N what it is."));
  }
  const Author author = {workspace_->env().UserName(), options.reason,
                         options.ticket.empty() ? wanted->ticket : options.ticket};
  AMEND_ASSIGN(publish::Publication publication,
               PrepareRollback(*workspace_, *wanted, entries, author));
  return RunPublication(*workspace_, publication);
}

}  // namespace amend
