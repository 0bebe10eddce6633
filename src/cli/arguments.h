#pragma once

#include <string>
#include <vector>

#include "amend/amend.h"
#include "base/env.h"
#include "base/status.h"

namespace amend::cli {

/// One command as typed.
struct Command {
  std::string name;    ///< "plan", "publish", …
  std::string folder;  ///< -C, absolute; the working folder by default
  bool json = false;
  bool yes = false;
  bool detailed_exitcode = false;
  std::string id;  ///< PLAN, number, table or project name, as the command has it
  std::vector<std::string> words;  ///< further positional arguments
  PlanOptions plan;
  bool replace_partitions = false;
  std::string at;
};

enum class Parsed { kCommand, kHelp, kWrong };

/// Understands the words. `text` gets the help, or what is wrong with them.
Parsed Parse(int argc, char** argv, Command* command, std::string* text);

/// Calls the facade. Asks on the terminal where a command needs a yes or a reason.
Result<Answer> Execute(Env& env, const Command& command);

}  // namespace amend::cli
