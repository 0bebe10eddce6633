#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace amend::project {

enum class ProblemSeverity { kError, kWarning };

/// One thing that is wrong with a project's text: where, what was expected, the nearest
/// thing that would be right.
struct Problem {
  ProblemSeverity severity = ProblemSeverity::kError;
  std::string code;  ///< stable, e.g. "unknown_key"; docs list them
  std::string file;  ///< relative to the project folder
  int line = 0;      ///< 1-based; 0 = the file as a whole
  std::string text;
  std::string hint;  ///< may be empty
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// "models/m.sql:4: error: text (hint) [code]".
std::string ToString(const Problem& problem);
/// {severity, code, file, line, text, hint} as `validate --json` has it.
Json ProblemToJson(const Problem& problem);
/// A failure of another room as a problem of this project; its place is kept.
Problem ProblemFrom(const Status& status);
bool HasErrors(const std::vector<Problem>& problems);
/// By file, then line, then in the order found: what people read top down.
void SortProblems(std::vector<Problem>* problems);

/// Collects the problems of one file. Not thread-safe; borrows the list.
class Report {
 public:
  Report(std::string file, std::vector<Problem>* problems)
      : file_(std::move(file)), problems_(problems) {}

  void Error(int line, std::string_view code, std::string text, std::string hint = "");
  void Warn(int line, std::string_view code, std::string text, std::string hint = "");
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<Problem>* problems_;
};

/// "did you mean 'x'?", or "one of a, b, c" where nothing is near.
std::string Suggest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace amend::project
