#include "project/project_file.h"

#include <algorithm>

#include "base/text.h"
#include "project/columns.h"
#include "project/section.h"

namespace amend::project {
namespace {

using lineage::Project;
using lineage::Source;
using lineage::SourceKind;

constexpr std::int64_t kLeastMemory = 64'000'000;
constexpr std::int64_t kMostThreads = 256;
constexpr std::int64_t kMostTagDays = 3'650;

/// The absolute form of a path in the project.
std::string ReadPath(Section& in, std::string_view name, const char* fallback,
                     const std::string& root) {
  std::string path = in.Text(name).value_or(fallback);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.find("://") != std::string::npos || path.starts_with('~') || path.empty()) {
    in.report().Error(in.LineOf(name), "bad_path",
                      in.PathOf(name) + ": expected a local path, found '" + path + "'",
                      "absolute, or relative to the project's folder");
    path = fallback;
  }
  return path.starts_with('/') ? path : root + "/" + path;
}

void ReadLimits(const YamlNode& node, Report& report, lineage::Limits* limits) {
  Section in(node, "limits", report);
  if (const YamlNode* memory = in.Take("memory")) {
    auto text = AsText(*memory, "limits.memory", report);
    auto bytes = text ? ParseBytes(*text) : std::nullopt;
    if (text && !bytes) {
      report.Error(memory->line, "bad_size",
                   "limits.memory: expected a size, found '" + *text + "'",
                   "such as 512MB, 4GB or 2GiB");
    } else if (bytes && *bytes < kLeastMemory) {
      report.Error(
          memory->line, "bad_size",
          "limits.memory: " + HumanBytes(*bytes) + " is too little to run at all",
          "at least " + HumanBytes(kLeastMemory));
    } else if (bytes) {
      limits->memory_bytes = *bytes;
    }
  }
  if (auto threads = in.Int("threads", 1, kMostThreads)) {
    limits->threads = static_cast<int>(*threads);
  }
  in.Finish();
}

Source ReadSource(const YamlMember& member, Report& report) {
  Section in(member.value, "sources." + member.name, report);
  Source source;
  source.name = member.name;
  source.at = {report.file(), member.line};
  source.kind = in.Choice<SourceKind>("kind", {{"raw", SourceKind::kRaw},
                                               {"foreign", SourceKind::kForeign}})
                    .value_or(SourceKind::kRaw);
  std::vector<lineage::ColumnContract> contracts;
  const YamlNode* columns = in.Take("columns");
  if (columns != nullptr) {
    contracts = ReadColumns(*columns, in.PathOf("columns"), ColumnsOf::kSource, report);
  }
  if (contracts.empty() && source.kind == SourceKind::kRaw &&
      member.value.kind != YamlNode::Kind::kScalar) {
    report.Error(member.line, "missing_key",
                 "sources." + member.name + ": a raw source needs its columns",
                 "columns: {id: BIGINT, …}; files that do not fit them are refused");
  }
  DeclaredColumns declared = DeclaredBy(contracts, ColumnsOf::kSource);
  declared.complete = columns != nullptr;
  if (const YamlNode* by = in.Take("partition_by")) {
    if (auto space = ReadPartitionBy(*by, in.PathOf("partition_by"), declared, report)) {
      source.space = *std::move(space);
    }
  }
  source.key = ReadKey(in, declared);
  source.columns = std::move(declared.columns);
  in.Finish();
  return source;
}

bool CheckTableName(const std::string& name, int line, const std::string& path,
                    Report& report) {
  if (IsName(name) && !ToLower(name).starts_with("_amend")) return true;
  report.Error(line, "bad_name", path + ": '" + name + "' cannot name a table",
               "a letter or '_', then letters, digits and '_'; not _amend…");
  return false;
}

void ReadSources(const YamlNode& node, Report& report, Project* project) {
  Section in(node, "sources", report);
  for (const YamlMember& member : node.members) {
    if (!CheckTableName(member.name, member.line, "sources", report)) continue;
    auto same = std::find_if(project->sources.begin(), project->sources.end(),
                             [&member](const Source& source) {
                               return ToLower(source.name) == ToLower(member.name);
                             });
    if (same != project->sources.end()) {
      report.Error(member.line, "duplicate_name",
                   "sources: '" + member.name + "' and '" + same->name + "' of line " +
                       std::to_string(same->at.line) + " are one name in SQL",
                   "names are compared without case");
      continue;
    }
    project->sources.push_back(ReadSource(member, report));
  }
  std::sort(project->sources.begin(), project->sources.end(),
            [](const Source& a, const Source& b) { return a.name < b.name; });
}

void ReadPolicy(const YamlNode& node, Report& report, Project* project) {
  Section in(node, "policy", report);
  if (auto days = in.Int("tag_days", 1, kMostTagDays)) {
    project->tag_days = static_cast<int>(*days);
  }
  in.Finish();
}

}  // namespace

Project ReadProjectFile(std::string_view text, const std::string& root, Report& report) {
  Project project;
  project.root = root;
  project.name_space = kDefaultNamespace;
  project.catalog = root + "/" + kDefaultCatalog;
  project.warehouse = root + "/" + kDefaultWarehouse;
  auto node = ParseYaml(text, 1, report);
  if (!node) return project;
  Section in(*node, "", report);
  project.name = in.Text("name").value_or("");
  if (node->Find("name") == nullptr) {
    report.Error(0, "missing_key", "amend.yaml has no name", "name: my_project");
  }
  project.name_space = in.Name("namespace").value_or(kDefaultNamespace);
  if (ToLower(project.name_space).find("_amend_") != std::string::npos) {
    report.Error(in.LineOf("namespace"), "reserved_name",
                 "namespace: names with _amend_ belong to twins of staged tables");
  }
  project.catalog = ReadPath(in, "catalog", kDefaultCatalog, root);
  project.warehouse = ReadPath(in, "warehouse", kDefaultWarehouse, root);
  if (const YamlNode* limits = in.Take("limits")) {
    ReadLimits(*limits, report, &project.limits);
  }
  if (const YamlNode* sources = in.Take("sources")) {
    ReadSources(*sources, report, &project);
  }
  if (const YamlNode* policy = in.Take("policy")) ReadPolicy(*policy, report, &project);
  in.Finish();
  return project;
}

}  // namespace amend::project
