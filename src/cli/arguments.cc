#include "cli/arguments.h"

#include <algorithm>
#include <string_view>

#include "CLI/CLI.hpp"
#include "base/text.h"
#include "cli/output.h"

namespace amend::cli {
namespace {

/// Adds the options that describe what to plan.
void AddPlanOptions(CLI::App* app, Command* command) {
  app->add_option("--select", command->plan.select, "Models to plan (default: all)");
  app->add_option("--from", command->plan.from, "First partition of the selected models");
  app->add_option("--to", command->plan.to, "Last partition, inclusive");
  app->add_option("--partition", command->plan.partitions, "One partition: column=value");
  app->add_flag("--full", command->plan.full,
                "Recompute everything, publish differences");
}

void AddReason(CLI::App* app, Command* command) {
  app->add_option("--reason", command->plan.reason, "Why: kept in the ledger");
}

void AddReasonAndTicket(CLI::App* app, Command* command) {
  AddReason(app, command);
  app->add_option("--ticket", command->plan.ticket, "Its ticket");
}

CLI::App* Add(CLI::App& app, Command* command, const std::string& name,
              const std::string& help) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->callback([command, name] { command->name = name; });
  return sub;
}

void AddProjectCommands(CLI::App& app, Command* command) {
  CLI::App* init = Add(app, command, "init", "Make a small working project");
  init->add_option("name", command->id, "Its name (default: the folder's)");
  Add(app, command, "validate", "Check everything, print all problems");
  CLI::App* land = Add(app, command, "land", "Bring files into a raw table");
  land->add_option("source", command->id, "The source")->required();
  land->add_option("files", command->words, "Parquet, CSV or JSON files")->required();
  land->add_flag("--replace-partitions", command->replace_partitions,
                 "Replace the partitions that the files have rows for");
  AddReasonAndTicket(land, command);
}

void AddPlanCommands(CLI::App& app, Command* command) {
  CLI::App* plan = Add(app, command, "plan", "What is touched, why, what it costs");
  AddPlanOptions(plan, command);
  AddReasonAndTicket(plan, command);
  plan->add_flag("--detailed-exitcode", command->detailed_exitcode,
                 "0: nothing to do, 10: work");
  for (const auto& [name, help] : std::vector<std::pair<std::string, std::string>>{
           {"stage", "Recompute in staging and check"},
           {"review", "Old against new, per partition and column"},
           {"publish", "One atomic switch over all tables"}}) {
    CLI::App* sub = Add(app, command, name, help);
    sub->add_option("plan", command->id, "The plan (default: the latest open one)");
  }
  CLI::App* backfill = Add(app, command, "backfill", "plan, stage and publish");
  AddPlanOptions(backfill, command);
  AddReasonAndTicket(backfill, command);
  backfill->add_flag("--yes", command->yes, "Do not ask");
}

void AddHistoryCommands(CLI::App& app, Command* command) {
  CLI::App* rollback = Add(app, command, "rollback", "Take a publication back");
  rollback->add_option("number", command->id, "Its number")->required();
  AddReasonAndTicket(rollback, command);
  CLI::App* release = Add(app, command, "release", "End holds");
  release->add_option("model", command->id, "The model")->required();
  release->add_option("partitions", command->words, "Partitions (default: all held)");
  AddReason(release, command);
  Add(app, command, "status", "Where every model stands, and what to type next");
  CLI::App* pins = Add(app, command, "pins", "Every table's snapshot at one instant");
  pins->add_option("--at", command->at, "As publication N left them");
  CLI::App* query = Add(app, command, "query", "A SELECT over one set of pins");
  query->add_option("sql", command->id, "The SELECT")->required();
  query->add_option("--at", command->at, "As publication N left the tables");
  CLI::App* why = Add(app, command, "why", "What built a partition, from what, why");
  why->add_option("table", command->id, "The model")->required();
  why->add_option("partition", command->words, "The partition")->required();
  CLI::App* show = Add(app, command, "show", "A plan or a publication");
  show->add_option("id", command->id, "Plan id or number")->required();
  CLI::App* gc = Add(app, command, "gc", "Remove what nothing uses (dry run)");
  gc->add_flag("--yes", command->yes, "Really remove it");
}

Result<std::optional<std::int64_t>> Number(const std::string& text) {
  if (text.empty()) return std::optional<std::int64_t>();
  std::string digits = text[0] == '#' ? text.substr(1) : text;
  auto number = ParseInt(digits);
  if (!number) {
    return amend::Fail(Invalid("'" + text + "' is not a number")
                           .Value(text)
                           .Hint("Publications are numbered: 12 or #12."));
  }
  return std::optional(*number);
}

/// A reason is asked for where there is work, and must be given where nobody can answer.
PlanOptions PlanOptionsOf(const Command& command) {
  PlanOptions options = command.plan;
  options.ask_reason = AskReason;
  return options;
}

Result<Answer> ExecutePlan(Amend& amend, const Command& command) {
  AMEND_ASSIGN(Answer answer, amend.Plan(PlanOptionsOf(command)));
  bool work = !answer.json["nothing_to_do"].get<bool>();
  if (command.detailed_exitcode && work) answer.exit_code = 10;
  return answer;
}

Result<Answer> ExecuteRollback(Amend& amend, const Command& command) {
  AMEND_ASSIGN(std::optional<std::int64_t> number, Number(command.id));
  if (!number) return amend::Fail(Invalid("no number to take back").Hint("rollback 12"));
  return amend.Rollback({*number, command.plan.reason, command.plan.ticket});
}

Result<Answer> ExecuteIn(Amend& amend, const Command& command) {
  const std::string& name = command.name;
  if (name == "land") {
    return amend.Land({command.id, command.words, command.replace_partitions,
                       command.plan.reason, command.plan.ticket});
  }
  if (name == "plan") return ExecutePlan(amend, command);
  if (name == "stage") return amend.Stage(command.id, ProgressOn(command.json));
  if (name == "review") return amend.Review(command.id);
  if (name == "publish") return amend.Publish(command.id);
  if (name == "backfill") {
    return amend.Backfill(PlanOptionsOf(command), ProgressOn(command.json),
                          [&](const std::string& text) -> Result<bool> {
                            if (command.yes) return true;
                            return Confirm(text);
                          });
  }
  if (name == "rollback") return ExecuteRollback(amend, command);
  if (name == "release") {
    std::string reason = command.plan.reason;
    if (reason.empty()) {
      AMEND_ASSIGN(reason, AskReason());
    }
    return amend.Release(command.id, command.words, reason);
  }
  if (name == "status") return amend.Status();
  if (name == "why") return amend.Why(command.id, command.words.front());
  if (name == "show") return amend.Show(command.id);
  if (name == "gc") return amend.Gc({command.yes});
  AMEND_ASSIGN(std::optional<std::int64_t> at, Number(command.at));
  if (name == "pins") return amend.Pins(at);
  return amend.Query({command.id, at});
}

}  // namespace

Parsed Parse(int argc, char** argv, Command* command, std::string* text) {
  CLI::App app{"Amend rewrites the history of data tables.", "amend"};
  app.require_subcommand(1);
  app.fallthrough();  // what all commands take may stand before or after the command
  app.add_flag("--json", command->json, "One JSON object on standard output");
  app.add_option("-C", command->folder, "The project's folder (default: here or above)");
  app.set_version_flag("--version", std::string("amend 0.1.0"));
  AddProjectCommands(app, command);
  AddPlanCommands(app, command);
  AddHistoryCommands(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *text = app.help();
    return Parsed::kHelp;
  } catch (const CLI::CallForVersion&) {
    *text = app.version() + "\n";
    return Parsed::kHelp;
  } catch (const CLI::ParseError& error) {
    *text = error.what();
    // Flags are set only once all words fit; whoever scripts wants JSON all the same.
    command->json = std::any_of(argv, argv + argc, [](const char* word) {
      return std::string_view(word) == "--json";
    });
    return Parsed::kWrong;
  }
  return Parsed::kCommand;
}

Result<Answer> Execute(Env& env, const Command& command) {
  std::string folder = AbsolutePath(command.folder.empty() ? "." : command.folder);
  if (command.name == "init") {
    std::string name = command.id.empty() ? std::string(FileNameOf(folder)) : command.id;
    return Amend::Init(env, folder, name);
  }
  if (command.name == "validate") return Amend::Validate(env, folder);
  AMEND_ASSIGN(std::unique_ptr<Amend> amend, Amend::Open(env, folder));
  return ExecuteIn(*amend, command);
}

}  // namespace amend::cli
