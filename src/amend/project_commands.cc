// init and validate: the commands that work without a sound project.
#include "amend/amend.h"
#include "fmt/format.h"
#include "project/init.h"

namespace amend {

Result<std::string> FindProject(Env& env, const std::string& folder) {
  for (std::string at = folder;; at = at.substr(0, at.rfind('/'))) {
    if (env.Exists(at + "/amend.yaml")) return at.empty() ? "/" : at;
    if (at.empty()) break;
  }
  return Fail(NotFound("there is no amend.yaml in " + folder + " or above it")
                  .Hint("Type amend init to make a project here, or name one: -C DIR."));
}

Result<std::unique_ptr<Amend>> Amend::Open(Env& env, const std::string& folder,
                                           db::StatementObserver* observer) {
  AMEND_ASSIGN(std::string root, FindProject(env, folder));
  AMEND_ASSIGN(std::unique_ptr<Workspace> workspace,
               Workspace::Open(env, root, observer));
  return std::unique_ptr<Amend>(new Amend(std::move(workspace)));
}

Result<Answer> Amend::Init(Env& env, const std::string& folder, const std::string& name) {
  AMEND_ASSIGN(project::Initialised made, project::InitProject(env, folder, name));
  Answer answer;
  answer.json["project"] = folder;
  answer.json["files"] = made.files;
  answer.text = fmt::format("Made a project in {}\n", folder);
  for (const std::string& file : made.files) answer.text += "  " + file + "\n";
  answer.text += fmt::format("Next   amend land {} {}\n", made.source, made.sample);
  return answer;
}

Result<Answer> Amend::Validate(Env& env, const std::string& folder) {
  AMEND_ASSIGN(std::string root, FindProject(env, folder));
  AMEND_ASSIGN(sql::Binder binder, sql::Binder::Open());
  Binding binding = BindProject(env, root, binder);
  if (binding.bound) {
    AMEND_ASSIGN(auto found, PartitioningProblems(env, *binding.bound,
                                                  ModelNames(binding.bound->lineage)));
    binding.problems.insert(binding.problems.end(), found.begin(), found.end());
    project::SortProblems(&binding.problems);
  }
  Answer answer;
  bool ok = !project::HasErrors(binding.problems);
  answer.json["ok"] = ok;
  answer.json["problems"] = Json::array();
  for (const project::Problem& problem : binding.problems) {
    answer.json["problems"].push_back(ProblemToJson(problem));
    answer.text += ToString(problem) + "\n";
  }
  answer.exit_code = ok ? 0 : 2;
  if (ok && binding.bound) {
    answer.text += fmt::format(
        "{}: {} models, {} sources, {} edges. No errors.\n", binding.bound->project.name,
        binding.bound->lineage.models().size(), binding.bound->lineage.sources().size(),
        binding.bound->lineage.edges().size());
  }
  return answer;
}

}  // namespace amend
