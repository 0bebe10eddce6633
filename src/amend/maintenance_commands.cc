// release and gc: ending holds, removing what nothing uses.
#include "amend/commands.h"
#include "amend/garbage.h"
#include "base/text.h"
#include "fmt/format.h"
#include "plan/request.h"
#include "state/hold.h"

namespace amend {
namespace {

using partition::PartitionSet;

/// Ends what `released` covers of a hold and keeps the rest as a hold of its own.
amend::Status EndPart(Workspace& w, db::Transaction& tx, const ledger::StoredHold& stored,
                      const PartitionSet& released, const std::string& reason,
                      PartitionSet* ended) {
  const partition::PartitionSpace& space = w.lineage().SpaceOf(stored.table);
  AMEND_ASSIGN_OR_RETURN(
      state::Hold hold, state::HoldFromJson(space, stored.id, stored.table, stored.hold));
  PartitionSet part = hold.partitions.Intersect(released);
  if (part.empty()) return {};
  AMEND_ASSIGN_OR_RETURN(bool took,
                         w.ledger().EndHold(tx, stored.id, w.env().NowMicros(), reason));
  if (!took) return Conflict("another process ended the hold meanwhile");
  *ended = ended->Union(part);
  PartitionSet rest = hold.partitions.Difference(part);
  if (rest.empty()) return {};
  ledger::StoredHold remaining = stored;
  remaining.id = 0;
  remaining.hold["partitions"] = RangesToJson(space, rest);
  return w.ledger().AddHold(tx, remaining);
}

}  // namespace

Result<Answer> Amend::Release(const std::string& name,
                              const std::vector<std::string>& partitions,
                              const std::string& reason) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  const lineage::BoundModelEntry* model = workspace_->lineage().FindModel(name);
  if (model == nullptr) {
    std::vector<std::string> names;
    for (const auto& entry : workspace_->lineage().models()) {
      names.push_back(entry.model.name);
    }
    return Fail(NotFound("there is no model " + name)
                    .Table(name)
                    .Hint(project::Suggest(name, names)));
  }
  const partition::PartitionSpace& space = model->model.space;
  PartitionSet wanted =
      partitions.empty() ? PartitionSet::All(space) : PartitionSet(space.shape());
  for (const std::string& text : partitions) {
    AMEND_ASSIGN(PartitionSet set, plan::PartitionRequest(space, text));
    wanted = wanted.Union(set);
  }
  PartitionSet ended(space.shape());
  auto end_holds = [&](db::Transaction& tx) {
    AMEND_ASSIGN_OR_RETURN(std::vector<ledger::StoredHold> holds,
                           workspace_->ledger().ActiveHolds(tx));
    for (const ledger::StoredHold& hold : holds) {
      if (hold.table != model->model.name) continue;
      AMEND_RETURN_IF_ERROR(EndPart(*workspace_, tx, hold, wanted, reason, &ended));
    }
    return amend::Status();
  };
  AMEND_FAIL_IF_ERROR(workspace_->InTransaction(db::TransactionMode::kWrite, end_holds));
  Answer answer;
  answer.json["model"] = model->model.name;
  answer.json["released"] = RangesToJson(space, ended);
  answer.json["no_op"] = ended.empty();
  answer.text = ended.empty()
                    ? fmt::format("Nothing of {} was held there.\n", model->model.name)
                    : fmt::format("Released {} {}\nNext   amend plan\n",
                                  model->model.name, Describe(space, ended));
  return answer;
}

Result<Answer> Amend::Gc(const GcOptions& options) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  AMEND_ASSIGN(Garbage garbage, FindGarbage(*workspace_));
  if (options.yes) AMEND_FAIL_IF_ERROR(RemoveGarbage(*workspace_, garbage));
  Answer answer;
  answer.json["dry_run"] = !options.yes;
  answer.json["files"] = Json::array();
  for (const std::string& file : garbage.files) answer.json["files"].push_back(file);
  answer.json["bytes"] = garbage.bytes;
  answer.json["twins"] = garbage.twins;
  answer.json["kept"] = Json::array();
  answer.text =
      fmt::format("{} {} files, {}, that no table, ledger entry or open plan uses\n",
                  options.yes ? "Removed" : "Would remove", garbage.files.size(),
                  HumanBytes(garbage.bytes));
  for (const UnreadTable& table : garbage.unread) {
    answer.json["kept"].push_back(Json{{"table", table.table}, {"why", table.why}});
    answer.text += fmt::format("  - {} could not be read, so all under it stays: {}\n",
                               table.table, table.why);
  }
  if (!options.yes && !garbage.files.empty()) answer.text += "Next   amend gc --yes\n";
  return answer;
}

}  // namespace amend
