#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace amend::state {

/// The answer to one check. Absent is never pass, and an empty input is kNotRun.
enum class Outcome { kPass, kFail, kError, kNotRun };
/// "pass", "fail", "error", "not_run".
std::string_view OutcomeName(Outcome outcome);

/// Belongs to exactly one write set's digests and one check text: recomputed data or an
/// edited check make it void.
struct Verdict {
  std::string model;
  std::string check;
  std::string partition;   ///< text, "all" for the batch
  std::string write_set;   ///< name of the write set judged
  std::string check_text;  ///< what was asked, in words with its numbers
  Outcome outcome = Outcome::kNotRun;
  bool blocks = true;
  std::int64_t offending_rows = 0;
  std::string text;           ///< what was found, in words
  std::vector<Json> samples;  ///< a few offending rows
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// One member per field, in the ledger and in `--json`.
Json VerdictToJson(const Verdict& verdict);
Result<Verdict> VerdictFromJson(const Json& json);

}  // namespace amend::state
