// The command line: words in, one call of the facade, an answer out.
#include <cstdio>
#include <iostream>
#include <string>

#include "amend/amend.h"
#include "base/env.h"
#include "cli/arguments.h"
#include "cli/output.h"

int main(int argc, char** argv) {
  amend::cli::Command command;
  std::string usage;
  switch (amend::cli::Parse(argc, argv, &command, &usage)) {
    case amend::cli::Parsed::kHelp:
      std::fputs(usage.c_str(), stdout);
      return 0;
    case amend::cli::Parsed::kWrong:
      return amend::cli::Fail(command, amend::Invalid(usage).Hint("amend --help"));
    case amend::cli::Parsed::kCommand:
      break;
  }
  auto answer = amend::cli::Execute(amend::Env::Real(), command);
  if (!answer) return amend::cli::Fail(command, answer.error());
  return amend::cli::Print(command, *answer);
}
