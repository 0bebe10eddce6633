#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"

namespace amend::project {

struct Initialised {
  std::vector<std::string> files;  ///< written, relative to the folder
  std::string source;              ///< to land the sample into
  std::string sample;              ///< relative path of the sample's CSV
};

/// Writes a small working project into the absolute `folder`, which may exist: a source
/// with a sample of rows, a daily and a monthly model. Nothing is overwritten: Invalid if
/// the folder has an amend.yaml, or another file of ours with other bytes, before
/// anything is written; an existing .gitignore stays as it is. amend.yaml comes last, so
/// a killed init is simply run again.
Result<Initialised> InitProject(Env& env, const std::string& folder,
                                const std::string& name);

}  // namespace amend::project
