#include "run/journal.h"

#include "base/hash.h"
#include "base/text.h"

namespace amend::run {
namespace {

constexpr std::size_t kChecksumDigits = 16;

std::string Checksum(std::string_view line) {
  return Sha256Hex(line).substr(0, kChecksumDigits);
}

/// A line's record, or nothing if it is not what Append wrote.
std::optional<Json> ParseLine(std::string_view line) {
  if (line.size() < kChecksumDigits + 1 || line[kChecksumDigits] != ' ') {
    return std::nullopt;
  }
  std::string_view body = line.substr(kChecksumDigits + 1);
  if (Checksum(body) != line.substr(0, kChecksumDigits)) return std::nullopt;
  auto json = ParseJson(body, "journal line");
  if (!json) return std::nullopt;
  return *std::move(json);
}

Result<StagedRecord> ParseStaged(const Json& record, const std::string& run) {
  StagedRecord staged;
  staged.run = run;
  auto set = record.find("write_set");
  auto verdicts = record.find("verdicts");
  if (set == record.end() || verdicts == record.end() || !verdicts->is_array()) {
    return Fail(Damaged("a staged line has no write set or no verdicts"));
  }
  AMEND_ASSIGN(staged.write_set, state::WriteSetFromJson(*set));
  for (const Json& json : *verdicts) {
    AMEND_ASSIGN(state::Verdict verdict, state::VerdictFromJson(json));
    staged.verdicts.push_back(std::move(verdict));
  }
  // A line without grounds has empty ones, which no question has: it is judged again.
  staged.grounds.questions = record.value("questions", "");
  staged.grounds.published = record.value("published", "");
  return staged;
}

/// Whether every file is still there with the size that was staged.
bool FilesExist(Env& env, const state::WriteSet& set) {
  for (const state::StagedFile& file : set.files) {
    auto info = env.Info(file.path);
    if (!info || info->size != file.bytes) return false;
  }
  return true;
}

}  // namespace

Result<Journal> Journal::Open(Env& env, const std::string& folder,
                              const std::string& run) {
  AMEND_ASSIGN(std::unique_ptr<AppendFile> file,
               env.OpenAppend(folder + "/" + run + ".jsonl"));
  // A torn last line of a killed process must not swallow the next record.
  Journal journal(std::move(file));
  AMEND_FAIL_IF_ERROR(journal.file_->Append("\n"));
  AMEND_FAIL_IF_ERROR(journal.Sync());
  AMEND_FAIL_IF_ERROR(env.SyncFolder(folder));
  return journal;
}

Status Journal::Append(const Json& record) {
  std::string body = record.dump(-1, ' ', false, Json::error_handler_t::replace);
  return file_->Append(Checksum(body) + " " + body + "\n");
}

Status Journal::Attempt(std::size_t task, int attempt, std::string_view write_set) {
  Json record = Json::object();
  record["type"] = "attempt";
  record["task"] = task;
  record["attempt"] = attempt;
  record["write_set"] = write_set;
  return Append(record);
}

Status Journal::Staged(const StagedRecord& staged) {
  Json record = Json::object();
  record["type"] = "staged";
  record["write_set"] = state::WriteSetToJson(staged.write_set);
  record["verdicts"] = Json::array();
  for (const state::Verdict& verdict : staged.verdicts) {
    record["verdicts"].push_back(state::VerdictToJson(verdict));
  }
  record["questions"] = staged.grounds.questions;
  record["published"] = staged.grounds.published;
  return Append(record);
}

Status Journal::Sync() { return file_->Sync(); }

Result<JournalContents> ReadJournal(Env& env, const std::string& path) {
  AMEND_ASSIGN(std::string bytes, env.ReadFile(path));
  JournalContents contents;
  for (const std::string& line : Split(bytes, '\n')) {
    if (line.empty()) continue;
    auto record = ParseLine(line);
    // A torn line is where one process died; a later process appends after it, so the
    // rest still counts: each line carries its own checksum.
    if (!record) {
      contents.torn = true;
      continue;
    }
    contents.records.push_back(*std::move(record));
  }
  return contents;
}

Result<std::map<std::string, StagedRecord>> FinishedWriteSets(Env& env,
                                                              const std::string& folder) {
  std::map<std::string, StagedRecord> finished;
  AMEND_ASSIGN(std::vector<FileInfo> entries, env.List(folder));
  for (const FileInfo& entry : entries) {
    std::string_view path = entry.path;
    constexpr std::string_view kSuffix = ".jsonl";
    if (path.size() < kSuffix.size() ||
        path.substr(path.size() - kSuffix.size()) != kSuffix) {
      continue;
    }
    std::string run(path.substr(path.rfind('/') + 1));
    run.resize(run.size() - kSuffix.size());
    AMEND_ASSIGN(JournalContents contents, ReadJournal(env, entry.path));
    for (const Json& record : contents.records) {
      if (record.value("type", "") != "staged") continue;
      AMEND_ASSIGN(StagedRecord staged, ParseStaged(record, run));
      if (FilesExist(env, staged.write_set)) {
        finished[staged.write_set.name] = std::move(staged);
      }
    }
  }
  return finished;
}

}  // namespace amend::run
