#include "testing/fakes/fault_env.h"

#include <filesystem>
#include <functional>
#include <utility>

namespace amend::testing {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  return fs::path(path).parent_path().string();
}

template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.has_value() ? Status() : result.error();
}

}  // namespace

/// Counts the calls of one open file.
class FaultAppendFile : public AppendFile {
 public:
  FaultAppendFile(FaultEnv& env, std::unique_ptr<AppendFile> file, std::string path)
      : env_(env), file_(std::move(file)), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override {
    return env_.Write("append " + path_, bytes,
                      [&](std::string_view part) { return file_->Append(part); });
  }
  Status Sync() override {
    return env_.Do("sync " + path_, [&] {
      Status status = file_->Sync();
      if (status.ok()) env_.NoteSynced(path_);
      return status;
    });
  }

 private:
  FaultEnv& env_;
  std::unique_ptr<AppendFile> file_;
  std::string path_;
};

FaultEnv::FaultEnv(Env& real, FaultScript& script, FaultEnvOptions options)
    : real_(real),
      script_(script),
      options_(std::move(options)),
      random_(options_.seed.value_or(0)) {
  names_.insert(options_.root);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(options_.root, error), end; entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    names_.insert(path);
    if (entry->is_regular_file()) {
      sizes_[path] = static_cast<std::int64_t>(entry->file_size());
    }
  }
}

template <typename Call>
Status FaultEnv::Do(std::string what, Call call) {
  FaultScript::Entry entry = script_.Enter(std::move(what));
  AMEND_RETURN_IF_ERROR(entry.status);
  if (entry.fault == Fault::kTearAndKill) return script_.Kill();
  return script_.Leave(entry, call());
}

template <typename T, typename Call>
Result<T> FaultEnv::Get(std::string what, bool counted, Call call) {
  if (!counted) {
    if (script_.dead()) return Fail(Internal("the process is dead"));
    return call();
  }
  std::optional<Result<T>> result;
  Status status = Do(std::move(what), [&] {
    result.emplace(call());
    return StatusOf(*result);
  });
  if (!status.ok()) return Fail(std::move(status));
  return *std::move(result);
}

/// A write may be torn: half of its bytes reach the file.
Status FaultEnv::Write(const std::string& what, std::string_view bytes,
                       const std::function<Status(std::string_view)>& write) {
  FaultScript::Entry entry = script_.Enter(what);
  AMEND_RETURN_IF_ERROR(entry.status);
  if (entry.fault == Fault::kTearAndKill) bytes = bytes.substr(0, bytes.size() / 2);
  return script_.Leave(entry, write(bytes));
}

// ---- files ----

Result<std::string> FaultEnv::ReadFile(const std::string& path) {
  return Get<std::string>("read " + path, options_.count_reads,
                          [&] { return real_.ReadFile(path); });
}

Result<std::string> FaultEnv::ReadRange(const std::string& path, std::int64_t offset,
                                        std::int64_t size) {
  return Get<std::string>("read " + path, options_.count_reads,
                          [&] { return real_.ReadRange(path, offset, size); });
}

Result<FileInfo> FaultEnv::Info(const std::string& path) {
  return Get<FileInfo>("info " + path, options_.count_reads,
                       [&] { return real_.Info(path); });
}

Result<std::vector<FileInfo>> FaultEnv::List(const std::string& path) {
  return Get<std::vector<FileInfo>>("list " + path, options_.count_reads,
                                    [&] { return real_.List(path); });
}

/// Cannot fail, so it is no fault point.
bool FaultEnv::Exists(const std::string& path) {
  return !script_.dead() && real_.Exists(path);
}

Status FaultEnv::WriteNewFile(const std::string& path, std::string_view bytes) {
  return Write("write " + path, bytes,
               [&](std::string_view part) { return real_.WriteNewFile(path, part); });
}

Status FaultEnv::ReplaceFile(const std::string& path, std::string_view bytes) {
  return Do("replace " + path, [&] {
    AMEND_RETURN_IF_ERROR(real_.ReplaceFile(path, bytes));
    NoteSynced(path);
    NoteDurable(FolderOf(path));
    return Status();
  });
}

Result<std::unique_ptr<AppendFile>> FaultEnv::OpenAppend(const std::string& path) {
  using File = std::unique_ptr<AppendFile>;
  return Get<File>("open " + path, true, [&]() -> Result<File> {
    AMEND_ASSIGN(File file, real_.OpenAppend(path));
    return std::make_unique<FaultAppendFile>(*this, std::move(file), path);
  });
}

Status FaultEnv::Sync(const std::string& path) {
  return Do("sync " + path, [&] {
    AMEND_RETURN_IF_ERROR(real_.Sync(path));
    NoteSynced(path);
    return Status();
  });
}

Status FaultEnv::SyncFolder(const std::string& path) {
  return Do("sync folder " + path, [&] {
    AMEND_RETURN_IF_ERROR(real_.SyncFolder(path));
    NoteDurable(path);
    return Status();
  });
}

Status FaultEnv::Rename(const std::string& from, const std::string& to) {
  return Do("rename " + from + " to " + to, [&] {
    std::optional<std::string> overwritten = BytesBefore(to);
    AMEND_RETURN_IF_ERROR(real_.Rename(from, to));
    NoteRename(from, to, std::move(overwritten));
    return Status();
  });
}

Status FaultEnv::RemoveFile(const std::string& path) {
  return Do("remove " + path, [&] {
    std::optional<std::string> bytes = BytesBefore(path);
    AMEND_RETURN_IF_ERROR(real_.RemoveFile(path));
    if (bytes) NoteRename(path, "", std::move(bytes));
    return Status();
  });
}

Status FaultEnv::RemoveEmptyFolder(const std::string& path) {
  return Do("remove folder " + path, [&] { return real_.RemoveEmptyFolder(path); });
}

Status FaultEnv::CreateFolders(const std::string& path) {
  return Do("create folder " + path, [&] { return real_.CreateFolders(path); });
}

Result<std::unique_ptr<FileLock>> FaultEnv::TryLock(const std::string& path) {
  return Get<std::unique_ptr<FileLock>>("lock " + path, true,
                                        [&] { return real_.TryLock(path); });
}

// ---- clock and randomness ----

std::int64_t FaultEnv::NowMicros() {
  if (!options_.now_micros) return real_.NowMicros();
  std::lock_guard lock(mutex_);
  return *options_.now_micros + slept_micros_;
}

std::int64_t FaultEnv::SteadyMicros() {
  if (!options_.now_micros) return real_.SteadyMicros();
  std::lock_guard lock(mutex_);
  return slept_micros_;
}

void FaultEnv::AdvanceClock(std::int64_t micros) {
  std::lock_guard lock(mutex_);
  slept_micros_ += micros;
}

void FaultEnv::SleepMicros(std::int64_t micros) {
  if (!options_.now_micros) return real_.SleepMicros(micros);
  AdvanceClock(micros);
}

std::uint64_t FaultEnv::Random64() {
  if (!options_.seed) return real_.Random64();
  std::lock_guard lock(mutex_);
  return random_();
}

// ---- what is durable ----

bool FaultEnv::Watched(const std::string& path) const {
  if (path.size() <= options_.root.size() || !path.starts_with(options_.root + "/")) {
    return false;
  }
  for (const std::string& end : options_.exempt) {
    if (path.ends_with(end)) return false;
  }
  return true;
}

void FaultEnv::NoteSynced(const std::string& path) {
  Result<FileInfo> info = real_.Info(path);
  std::lock_guard lock(mutex_);
  if (info.has_value() && !info->is_folder) sizes_[path] = info->size;
}

/// The names in one folder are now what they seem.
void FaultEnv::NoteDurable(const std::string& folder) {
  Result<std::vector<FileInfo>> entries = real_.List(folder);
  std::lock_guard lock(mutex_);
  std::erase_if(names_,
                [&](const std::string& name) { return FolderOf(name) == folder; });
  if (!entries.has_value()) return;
  std::erase_if(undo_, [&](const Undo& undo) {
    bool settled = FolderOf(undo.to.empty() ? undo.from : undo.to) == folder;
    // A rename is one step: where the new name is durable, the old one is gone.
    if (settled) names_.erase(undo.from);
    return settled;
  });
  for (const FileInfo& entry : *entries) names_.insert(entry.path);
}

std::optional<std::string> FaultEnv::BytesBefore(const std::string& path) {
  if (!Watched(path)) return std::nullopt;
  Result<std::string> bytes = real_.ReadFile(path);
  if (!bytes.has_value()) return std::nullopt;
  return *std::move(bytes);
}

void FaultEnv::NoteRename(const std::string& from, const std::string& to,
                          std::optional<std::string> overwritten) {
  if (!Watched(from) && !Watched(to)) return;
  std::lock_guard lock(mutex_);
  Undo undo{from, to, std::move(overwritten), std::nullopt};
  const std::string& lost = to.empty() ? from : to;
  if (auto size = sizes_.extract(lost); !size.empty()) undo.size = size.mapped();
  if (!to.empty()) {
    if (auto size = sizes_.extract(from); !size.empty()) sizes_[to] = size.mapped();
  }
  undo_.push_back(std::move(undo));
}

void FaultEnv::LosePower() {
  std::lock_guard lock(mutex_);
  UndoNames();
  Sweep(options_.root);
}

void FaultEnv::UndoNames() {
  while (!undo_.empty()) {
    Undo undo = std::move(undo_.back());
    undo_.pop_back();
    // A later, settled rename may have taken the file on.
    if (!undo.to.empty() && real_.Exists(undo.to)) {
      AMEND_CHECK(real_.Rename(undo.to, undo.from).ok());
      if (auto size = sizes_.extract(undo.to); !size.empty()) {
        sizes_[undo.from] = size.mapped();
      }
    }
    const std::string& lost = undo.to.empty() ? undo.from : undo.to;
    if (undo.bytes) AMEND_CHECK(real_.WriteNewFile(lost, *undo.bytes).ok());
    if (undo.size) sizes_[lost] = *undo.size;
  }
}

/// Removes names that are not durable and cuts files to their durable bytes.
void FaultEnv::Sweep(const std::string& folder) {
  Result<std::vector<FileInfo>> entries = real_.List(folder);
  AMEND_CHECK(entries.has_value());
  for (const FileInfo& entry : *entries) {
    if (!Watched(entry.path)) continue;
    if (!names_.contains(entry.path)) {
      fs::remove_all(entry.path);
    } else if (entry.is_folder) {
      Sweep(entry.path);
    } else {
      auto size = sizes_.find(entry.path);
      std::int64_t durable = size == sizes_.end() ? 0 : size->second;
      if (entry.size > durable) fs::resize_file(entry.path, durable);
    }
  }
}

}  // namespace amend::testing
