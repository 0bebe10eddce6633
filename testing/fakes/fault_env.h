#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "testing/fakes/fault_script.h"

namespace amend::testing {

struct FaultEnvOptions {
  /// Folder whose files are watched; everything in it at construction is durable.
  std::string root;
  /// Files that look after their own durability (SQLite), by the end of their names.
  std::vector<std::string> exempt = {".db", ".db-wal", ".db-shm", ".db-journal"};
  /// Microseconds since the epoch; the clock stands still but for AdvanceClock and
  /// sleeps. Absent: the real clock.
  std::optional<std::int64_t> now_micros = std::nullopt;
  /// Absent: real randomness. Two worlds that share a folder need different seeds.
  std::optional<std::uint64_t> seed = std::nullopt;
  bool count_reads = true;  ///< whether reading is a fault point, too
};

/// An Env over the real one with which tests turn the clock, enumerate every effect as a
/// fault point (FaultScript) and cut the power.
///
/// Power loss is the strict model of POSIX: what was not synced is gone. A file's bytes
/// beyond its last Sync are cut off; a name (of a new file, a renamed one, a folder, or
/// the absence of a removed one) counts only after SyncFolder of the folder it is in.
/// Real file systems keep more; code that survives this survives them. Files that others
/// wrote below the root (the engine's COPY) are seen and count as never synced.
/// ReplaceFile is durable when it returns and one fault point.
///
/// Not modelled: writing through two names of one file, folders renamed, power loss for
/// the exempt files.
///
/// Thread-safe; the order of fault points over several threads is not fixed.
class FaultEnv : public Env {
 public:
  /// Borrows both, which outlive it.
  FaultEnv(Env& real, FaultScript& script, FaultEnvOptions options);

  /// Leaves below the root what a power loss would have left. Call it when the world is
  /// dead (or from the script's on_kill), with the files of the code under test closed.
  void LosePower();

  void AdvanceClock(std::int64_t micros);

  Result<std::string> ReadFile(const std::string& path) override;
  Result<std::string> ReadRange(const std::string& path, std::int64_t offset,
                                std::int64_t size) override;
  Status WriteNewFile(const std::string& path, std::string_view bytes) override;
  Status ReplaceFile(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) override;
  Status Sync(const std::string& path) override;
  Status SyncFolder(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RemoveFile(const std::string& path) override;
  Status RemoveEmptyFolder(const std::string& path) override;
  Status CreateFolders(const std::string& path) override;
  bool Exists(const std::string& path) override;
  Result<FileInfo> Info(const std::string& path) override;
  Result<std::vector<FileInfo>> List(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) override;
  std::int64_t NowMicros() override;
  std::int64_t SteadyMicros() override;
  std::int64_t CpuMicros() override { return real_.CpuMicros(); }
  std::int64_t ThreadCpuMicros() override { return real_.ThreadCpuMicros(); }
  std::int64_t PeakMemoryBytes() override { return real_.PeakMemoryBytes(); }
  void SleepMicros(std::int64_t micros) override;
  std::uint64_t Random64() override;
  std::string UserName() override { return "tester"; }

 private:
  friend class FaultAppendFile;

  /// A change of names that a power loss would undo.
  struct Undo {
    std::string from;                  ///< where the file was
    std::string to;                    ///< where it is now; empty: removed
    std::optional<std::string> bytes;  ///< what was removed or overwritten
    std::optional<std::int64_t> size;  ///< how much of those bytes was durable
  };

  template <typename Call>
  Status Do(std::string what, Call call);
  template <typename T, typename Call>
  Result<T> Get(std::string what, bool counted, Call call);
  Status Write(const std::string& what, std::string_view bytes,
               const std::function<Status(std::string_view)>& write);

  void NoteSynced(const std::string& path);
  bool Watched(const std::string& path) const;
  void NoteDurable(const std::string& folder);
  void NoteRename(const std::string& from, const std::string& to,
                  std::optional<std::string> overwritten);
  std::optional<std::string> BytesBefore(const std::string& path);
  void UndoNames();
  void Sweep(const std::string& folder);

  Env& real_;
  FaultScript& script_;
  FaultEnvOptions options_;

  std::mutex mutex_;             // guards what follows
  std::set<std::string> names_;  ///< files and folders whose name is durable
  std::map<std::string, std::int64_t>
      sizes_;               ///< durable bytes; a file not in it has none
  std::vector<Undo> undo_;  ///< in the order they happened
  std::int64_t slept_micros_ = 0;
  std::mt19937_64 random_;
};

}  // namespace amend::testing
