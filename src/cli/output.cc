#include "cli/output.h"

#include <cstdio>
#include <iostream>
#include <memory>

#include "base/env.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::cli {
namespace {

constexpr std::size_t kBar = 30;  // columns of the progress bar
constexpr int kStandardInput = 0;
constexpr int kStandardError = 2;

void PrintJson(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::fputs((text + "\n").c_str(), stdout);
}

}  // namespace

int ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kInvalid:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
      return 2;
    case StatusCode::kRefused:
      return 3;
    case StatusCode::kConflict:
      return 4;
    case StatusCode::kExhausted:
    case StatusCode::kTransient:
      return 5;
    case StatusCode::kUnknown:
      return 6;
    case StatusCode::kDamaged:
    case StatusCode::kInternal:
      return 1;
  }
  return 1;
}

Json ErrorToJson(const Status& status) {
  Json error = Json::object();
  error["code"] = CodeName(status.code());
  error["message"] = status.message();
  const Place& place = status.place();
  auto add = [&error](const char* name, const std::string& text) {
    if (!text.empty()) error[name] = text;
  };
  add("hint", status.hint());
  add("file", place.file);
  if (place.line) error["line"] = *place.line;
  add("table", place.table);
  add("partition", place.partition);
  add("column", place.column);
  add("value", place.value);
  Json json = Json::object();
  json["error"] = std::move(error);
  return json;
}

int Print(const Command& command, const Answer& answer) {
  const Status& failure = answer.failure;
  if (command.json) {
    Json json = answer.json;
    if (!failure.ok()) json.update(ErrorToJson(failure));
    PrintJson(json);
  } else {
    std::fputs(answer.text.c_str(), stdout);
  }
  if (failure.ok()) return answer.exit_code;
  std::fputs(("amend: " + failure.ToString() + "\n").c_str(), stderr);
  return ExitCodeOf(failure.code());
}

int Fail(const Command& command, const Status& status) {
  std::fputs(("amend: " + status.ToString() + "\n").c_str(), stderr);
  if (command.json) PrintJson(ErrorToJson(status));
  return ExitCodeOf(status.code());
}

Progress ProgressOn(bool json) {
  bool terminal = IsTerminal(kStandardError) && !json;
  auto last = std::make_shared<std::string>();
  return [terminal, last](const run::RunProgress& progress) {
    if (terminal) {
      std::size_t filled =
          progress.tasks == 0 ? kBar : kBar * progress.ended / progress.tasks;
      std::string line =
          fmt::format("\r[{:<{}}] {}/{} tasks  {:<24}", std::string(filled, '#'), kBar,
                      progress.ended, progress.tasks, progress.model);
      if (progress.ended == progress.tasks) line += "\n";
      std::fputs(line.c_str(), stderr);
      return;
    }
    if (*last == progress.model && progress.ended != progress.tasks) return;
    *last = progress.model;
    std::fputs(
        fmt::format("{}/{} tasks, {}\n", progress.ended, progress.tasks, progress.model)
            .c_str(),
        stderr);
  };
}

namespace {

std::string AskLine(const std::string& question) {
  std::fputs(question.c_str(), stderr);
  std::string line;
  std::getline(std::cin, line);
  return line;
}

}  // namespace

Result<std::string> AskReason() {
  std::string reason;
  if (IsTerminal(kStandardInput)) reason = Trim(AskLine("Why (kept in the ledger)? "));
  if (!reason.empty()) return reason;
  return amend::Fail(Invalid("a reason is needed where there is work")
                         .Hint("Give it on the command line: --reason TEXT."));
}

Result<bool> Confirm(const std::string& text) {
  if (!IsTerminal(kStandardInput)) {
    return amend::Fail(Invalid("there is work and nobody to say yes; nothing was done")
                           .Hint("--yes goes on without asking."));
  }
  return AskLine(text + "Go on? Type yes: ") == "yes";
}

}  // namespace amend::cli
