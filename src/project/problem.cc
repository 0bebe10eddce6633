#include "project/problem.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace amend::project {
namespace {

std::string_view SeverityName(ProblemSeverity severity) {
  return severity == ProblemSeverity::kError ? "error" : "warning";
}

}  // namespace

std::string ToString(const Problem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += ":" + std::to_string(problem.line);
  text += ": " + std::string(SeverityName(problem.severity)) + ": " + problem.text;
  if (!problem.hint.empty()) text += " (" + problem.hint + ")";
  return text + " [" + problem.code + "]";
}

Json ProblemToJson(const Problem& problem) {
  return {{"severity", SeverityName(problem.severity)},
          {"code", problem.code},
          {"file", problem.file},
          {"line", problem.line},
          {"text", problem.text},
          {"hint", problem.hint}};
}

Problem ProblemFrom(const Status& status) {
  return {.severity = ProblemSeverity::kError,
          .code = std::string(CodeName(status.code())),
          .file = status.place().file,
          .line = status.place().line.value_or(0),
          .text = status.message(),
          .hint = status.hint()};
}

bool HasErrors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.severity == ProblemSeverity::kError;
  });
}

void SortProblems(std::vector<Problem>* problems) {
  std::stable_sort(problems->begin(), problems->end(),
                   [](const Problem& a, const Problem& b) {
                     return std::tie(a.file, a.line) < std::tie(b.file, b.line);
                   });
}

void Report::Error(int line, std::string_view code, std::string text, std::string hint) {
  problems_->push_back({ProblemSeverity::kError, std::string(code), file_, line,
                        std::move(text), std::move(hint)});
}

void Report::Warn(int line, std::string_view code, std::string text, std::string hint) {
  problems_->push_back({ProblemSeverity::kWarning, std::string(code), file_, line,
                        std::move(text), std::move(hint)});
}

std::string Suggest(std::string_view name, const std::vector<std::string>& candidates) {
  if (auto nearest = NearestName(name, candidates)) {
    return "did you mean '" + *nearest + "'?";
  }
  return candidates.empty() ? "" : "one of " + Join(candidates, ", ");
}

}  // namespace amend::project
