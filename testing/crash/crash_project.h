#pragma once

#include <string>
#include <vector>

#include "amend/amend.h"
#include "base/json.h"

namespace amend::testing {

inline constexpr const char* kNamespace = "shop";
inline constexpr const char* kWarehouse = "lake";

/// A raw source, a daily model, a second daily one that reads three days of the first,
/// and a monthly one; two CSV files: eight days around a change of month, and a
/// correction of two of them.
void WriteProject(const std::string& folder);

/// The life of the project, one command a step.
enum class Step {
  kLand,  ///< eight days
  kPlan,  ///< first build
  kStage,
  kPublish,  ///< makes the models' tables
  kCorrect,  ///< lands two corrected days, replacing
  kPlanAgain,
  kStageAgain,
  kPublishAgain,
  kRollback,  ///< of the second publication
};
inline constexpr int kSteps = 9;
std::string StepName(Step step);

/// What later steps need of earlier ones.
struct Story {
  std::string plan;              ///< of the last plan
  std::int64_t publication = 0;  ///< of the last publish
};

/// Runs one command. `story` is brought up to date by what it answers.
Result<Answer> RunStep(Amend& amend, Step step, Story* story);

/// Whether the answer says that nothing was done, or nothing again.
bool SaysNoOp(Step step, const Json& answer);

/// Rows of every table in order, what status says, and the ledger: kinds and changes,
/// without its numbers, which a kill may skip. Verifies the ledger's chain and that no
/// intent is open.
Json Describe(Amend& amend);

}  // namespace amend::testing
