#include "project/load.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "project/model_file.h"
#include "project/project_file.h"

namespace amend::project {
namespace {

constexpr int kMaxFolders = 16;
constexpr std::string_view kSql = ".sql";

std::string LastPart(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

class Loader {
 public:
  Loader(Env& env, const std::string& root) : env_(env), root_(root) {}

  Loaded Load() {
    ReadProject();
    ReadFolder(root_ + "/" + kModelsFolder, 0);
    ResolveNames();
    ResolveInputs();
    for (ModelFile& file : files_) {
      loaded_.project.models.push_back(std::move(file.model));
    }
    SortProblems(&loaded_.problems);
    return std::move(loaded_);
  }

 private:
  Report ReportOn(const std::string& path) {
    const bool inside = path.starts_with(root_ + "/");
    return {inside ? path.substr(root_.size() + 1) : path, &loaded_.problems};
  }

  void ReadProject() {
    const std::string path = root_ + "/" + kProjectFile;
    Report report = ReportOn(path);
    loaded_.project.root = root_;
    auto text = env_.ReadFile(path);
    if (!text) {
      const bool absent = text.error().code() == StatusCode::kNotFound;
      report.Error(0, absent ? "no_project" : "unreadable",
                   absent ? "there is no amend.yaml in " + root_ : text.error().message(),
                   absent ? "amend init makes a project; -C names its folder" : "");
      return;
    }
    if (auto line = FirstLineNotUtf8(*text)) {
      report.Error(*line, "not_utf8", "this line has bytes that are not UTF-8",
                   "save the file as UTF-8");
      return;
    }
    loaded_.project = ReadProjectFile(*text, root_, report);
  }

  void ReadFolder(const std::string& folder, int depth) {
    if (depth > kMaxFolders) {
      ReportOn(folder).Error(0, "too_deep",
                             "folders nest deeper than " + std::to_string(kMaxFolders));
      return;
    }
    auto entries = env_.List(folder);
    if (!entries) {
      ReportOn(folder).Error(0, "unreadable", entries.error().message());
      return;
    }
    for (const FileInfo& entry : *entries) {
      const std::string name = LastPart(entry.path);
      if (name.starts_with('.')) continue;
      if (entry.is_folder && entry.is_link) {
        ReportOn(entry.path)
            .Error(0, "link", "links to folders are not followed",
                   "move the models here, or link the single files");
      } else if (entry.is_folder) {
        ReadFolder(entry.path, depth + 1);
      } else if (ToLower(name).ends_with(kSql)) {
        ReadModel(entry.path, name.substr(0, name.size() - kSql.size()));
      }
    }
  }

  void ReadModel(const std::string& path, const std::string& name) {
    Report report = ReportOn(path);
    if (!IsName(name) || ToLower(name).starts_with("_amend")) {
      report.Error(0, "bad_name", "'" + name + "' cannot name a model",
                   "a letter or '_', then letters, digits and '_'; not _amend…");
      return;
    }
    auto text = env_.ReadFile(path);
    if (!text) {
      report.Error(0, "unreadable", text.error().message(),
                   "is it a link that leads nowhere?");
      return;
    }
    if (auto file = ReadModelFile(name, *text, report))
      files_.push_back(*std::move(file));
  }

  /// Sorts the models by name and reports names that are taken.
  void ResolveNames() {
    std::stable_sort(files_.begin(), files_.end(),
                     [](const ModelFile& a, const ModelFile& b) {
                       return a.model.name < b.model.name;
                     });
    for (const lineage::Source& source : loaded_.project.sources) {
      spaces_.emplace(ToLower(source.name), source.space);
      where_.emplace(ToLower(source.name), "the source on line " +
                                               std::to_string(source.at.line) + " of " +
                                               source.at.file);
    }
    for (const ModelFile& file : files_) {
      const lineage::Model& model = file.model;
      auto [it, is_new] = where_.emplace(ToLower(model.name), model.at.file);
      if (is_new) {
        spaces_.emplace(ToLower(model.name), model.space);
        continue;
      }
      Report(model.at.file, &loaded_.problems)
          .Error(0, "duplicate_name",
                 "the name '" + model.name + "' is taken by " + it->second,
                 "rename one of the two; names are compared without case");
    }
  }

  void ResolveInputs() {
    std::vector<std::string> names;
    for (const lineage::Source& source : loaded_.project.sources) {
      names.push_back(source.name);
    }
    for (const ModelFile& file : files_) names.push_back(file.model.name);
    for (ModelFile& file : files_) {
      Report report(file.model.at.file, &loaded_.problems);
      for (const InputText& input : file.inputs) {
        auto space = spaces_.find(ToLower(input.table));
        if (space == spaces_.end()) {
          report.Error(input.line, "unknown_table",
                       "inputs: '" + input.table + "' is neither a source nor a model",
                       Suggest(input.table, names));
          continue;
        }
        auto mapping = MappingOf(input, space->second, file.model.space, report);
        if (!mapping) continue;
        file.model.inputs.push_back(
            {input.table, *std::move(mapping), {report.file(), input.line}});
      }
    }
  }

  Env& env_;
  std::string root_;
  Loaded loaded_;
  std::vector<ModelFile> files_;
  std::map<std::string, partition::PartitionSpace> spaces_;  // by lower-case name
  std::map<std::string, std::string> where_;                 // by lower-case name
};

}  // namespace

Loaded LoadProject(Env& env, const std::string& root) { return Loader(env, root).Load(); }

}  // namespace amend::project
