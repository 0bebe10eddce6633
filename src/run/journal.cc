#include "run/journal.h"

#include "base/hash.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::run {
namespace {

constexpr std::size_t kChecksumDigits = 16;
constexpr std::string_view kWhat = "a staged line";

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

/// What a record is about; "" where it is not said.
std::string TypeOf(const Json& record) {
  if (!record.is_object()) return "";
  auto type = record.find("type");
  return type != record.end() && type->is_string() ? type->get<std::string>() : "";
}

std::string Lines(int count) {
  return fmt::format("{} line{}", count, count == 1 ? "" : "s");
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
  if (record.contains("questions")) {
    AMEND_ASSIGN(staged.grounds.questions, JsonString(record, "questions", kWhat));
  }
  if (record.contains("published")) {
    AMEND_ASSIGN(staged.grounds.published, JsonString(record, "published", kWhat));
  }
  return staged;
}

constexpr std::string_view kSuffix = ".jsonl";

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
               env.OpenAppend(JournalPath(folder, run)));
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
      ++contents.torn;
      continue;
    }
    contents.records.push_back(*std::move(record));
  }
  return contents;
}

std::string JournalPath(const std::string& folder, const std::string& run) {
  return folder + "/" + run + std::string(kSuffix);
}

void FinishedWork::Add(const std::string& run, const JournalContents& contents) {
  int unread = 0;
  Status why;
  for (const Json& record : contents.records) {
    if (TypeOf(record) != "staged") continue;
    auto staged = ParseStaged(record, run);
    if (!staged) {
      ++unread;
      if (why.ok()) why = std::move(staged).error();
      continue;
    }
    by_name_[staged->write_set.name].push_back(*std::move(staged));
  }
  if (contents.torn > 0) {
    left_out_.push_back(
        fmt::format("journal of {}: {} torn, as a killed process leaves "
                    "them; what they held is done again",
                    run, Lines(contents.torn)));
  }
  if (unread > 0) {
    left_out_.push_back(
        fmt::format("journal of {}: {} left out ({}); what they held is "
                    "done again",
                    run, Lines(unread), why.message()));
  }
}

Result<FinishedWork> FinishedWork::Read(Env& env, const std::string& folder) {
  FinishedWork work;
  AMEND_ASSIGN(std::vector<FileInfo> entries, env.List(folder));
  for (const FileInfo& entry : entries) {
    std::string_view name = std::string_view(entry.path).substr(folder.size() + 1);
    if (!name.ends_with(kSuffix)) continue;
    AMEND_ASSIGN(JournalContents contents, ReadJournal(env, entry.path));
    work.Add(std::string(name.substr(0, name.size() - kSuffix.size())), contents);
  }
  return work;
}

const StagedRecord* FinishedWork::Find(Env& env, const std::string& write_set,
                                       const std::string& run) const {
  auto found = by_name_.find(write_set);
  if (found == by_name_.end()) return nullptr;
  const StagedRecord* other = nullptr;
  for (auto record = found->second.rbegin(); record != found->second.rend(); ++record) {
    if (record->run != run && other != nullptr) continue;
    if (!FilesExist(env, record->write_set)) continue;
    if (record->run == run) return &*record;
    other = &*record;
  }
  return other;
}

Result<std::vector<std::string>> StagedPaths(Env& env, const std::string& path) {
  std::vector<std::string> paths;
  if (!env.Exists(path)) return paths;
  AMEND_ASSIGN(JournalContents contents, ReadJournal(env, path));
  for (const Json& record : contents.records) {
    if (TypeOf(record) != "staged") continue;
    auto staged = ParseStaged(record, "");
    if (!staged) continue;  // of another format: no run of ours can reuse it
    for (const state::StagedFile& file : staged->write_set.files) {
      paths.push_back(file.path);
    }
  }
  return paths;
}

}  // namespace amend::run
