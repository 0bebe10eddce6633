#pragma once

#include <string>

#include "amend/amend.h"
#include "base/status.h"
#include "cli/arguments.h"

namespace amend::cli {

/// Prints the answer (with --json exactly one object, with `error` where the command got
/// part of the way) and returns the exit code.
int Print(const Command& command, const Answer& answer);

/// Prints a failure and returns its exit code (docs/cli.md): text on standard error, with
/// --json also `{"error": …}` on standard output.
int Fail(const Command& command, const Status& status);
int ExitCodeOf(StatusCode code);
Json ErrorToJson(const Status& status);

/// A progress bar on a terminal, one plain line for each model elsewhere; nothing on
/// standard output.
Progress ProgressOn(bool json);

/// Asks on the terminal for a reason. Invalid, with the option that gives it, where there
/// is no terminal or no answer.
Result<std::string> AskReason();
/// Shows `text` and asks whether to go on. Invalid, with the option that answers, where
/// there is no terminal.
Result<bool> Confirm(const std::string& text);

}  // namespace amend::cli
