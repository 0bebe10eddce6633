#pragma once

#include <string>

#include "amend/amend.h"
#include "base/status.h"
#include "cli/arguments.h"

namespace amend::cli {

/// Prints the answer (with --json exactly one object) and returns the exit code.
int Print(const Command& command, const Answer& answer);

/// Prints a failure and returns its exit code (docs/cli.md): text on standard error, with
/// --json also `{"error": …}` on standard output.
int Fail(const Command& command, const Status& status);
int ExitCodeOf(StatusCode code);
Json ErrorToJson(const Status& status);

/// A progress bar on a terminal, one plain line for each model elsewhere; nothing on
/// standard output.
Progress ProgressOn(bool json);

/// Asks on the terminal. Invalid, with the option that answers, where there is none.
Result<std::string> Ask(const std::string& question);
bool Confirm(const std::string& text);

}  // namespace amend::cli
