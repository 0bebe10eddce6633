#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace amend {

/// An open file that only grows: journals. Not thread-safe. The destructor closes without
/// syncing; what was not synced may be lost with the power.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  /// Returns once every appended byte is on stable storage.
  virtual Status Sync() = 0;
};

/// A held advisory lock; the destructor releases it. The kernel releases it when the
/// process dies, so a lock never outlives its owner.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct FileInfo {
  std::string path;
  std::int64_t size = 0;  ///< bytes
  bool is_folder = false;
  bool is_link = false;  ///< from List only: the entry is a symbolic link
};

/// The only door to the operating system: files, clock, randomness, own resource use.
/// Tests wrap it to fake the clock, inject faults and count effects; nothing else in the
/// house calls the OS (a system-call trace tests that; SQLite's own file and DuckDB's
/// COPY and spill are the named exceptions).
///
/// Paths are local absolute paths; `iceberg/` turns URIs into them. Thread-safe.
class Env {
 public:
  virtual ~Env() = default;

  /// The process-wide real one.
  static Env& Real();

  // Files. NotFound where the path does not exist, Exhausted where the disk is full,
  // Transient or Internal otherwise; the status names the path.
  virtual Result<std::string> ReadFile(const std::string& path) = 0;
  /// At most `size` bytes from `offset`; fewer only at the end of the file.
  virtual Result<std::string> ReadRange(const std::string& path, std::int64_t offset,
                                        std::int64_t size) = 0;
  /// Creates `path` with these bytes, and its folders where missing. Names are unique by
  /// design, so an existing file is refused (Invalid), never overwritten.
  /// Not durable before Sync(path) and SyncFolder of its folder.
  virtual Status WriteNewFile(const std::string& path, std::string_view bytes) = 0;
  /// Replaces `path` so that a reader or a crash sees the old bytes or the new, and
  /// syncs.
  virtual Status ReplaceFile(const std::string& path, std::string_view bytes) = 0;
  virtual Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) = 0;
  virtual Status Sync(const std::string& path) = 0;
  virtual Status SyncFolder(const std::string& path) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  /// Ok also where nothing was there.
  virtual Status RemoveFile(const std::string& path) = 0;
  /// Removes an empty folder; ok also where nothing was there or it is not empty.
  virtual Status RemoveEmptyFolder(const std::string& path) = 0;
  virtual Status CreateFolders(const std::string& path) = 0;
  virtual bool Exists(const std::string& path) = 0;
  virtual Result<FileInfo> Info(const std::string& path) = 0;
  /// Entries of one folder, sorted by path; empty where the folder does not exist. A link
  /// is described by what it leads to; one that leads nowhere, or in a circle, is listed
  /// as a file of no bytes.
  virtual Result<std::vector<FileInfo>> List(const std::string& path) = 0;
  /// Transient if another process holds it. The file stays behind; only the lock counts.
  virtual Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) = 0;

  /// Microseconds since the Unix epoch, UTC.
  virtual std::int64_t NowMicros() = 0;
  /// Microseconds of a clock that never runs backwards; for durations only.
  virtual std::int64_t SteadyMicros() = 0;
  /// User and system CPU of this process, microseconds.
  virtual std::int64_t CpuMicros() = 0;
  /// CPU of the calling thread, microseconds.
  virtual std::int64_t ThreadCpuMicros() = 0;
  /// VmHWM of this process, bytes.
  virtual std::int64_t PeakMemoryBytes() = 0;
  virtual void SleepMicros(std::int64_t micros) = 0;

  /// 64 random bits.
  virtual std::uint64_t Random64() = 0;
  /// A random UUID (version 4), lower case with dashes. Made from Random64.
  std::string NewUuid();

  /// The name of the person or service running us ($AMEND_USER, else the login name).
  virtual std::string UserName() = 0;
};

/// Whether an open descriptor is a terminal.
bool IsTerminal(int descriptor);

/// `path` absolute and without dots; links are followed as far as the path exists.
std::string AbsolutePath(const std::string& path);

/// The folder that a path is in: everything before its last slash.
std::string FolderOf(const std::string& path);
/// The rest: what a path is called in its folder. Borrows from `path`.
std::string_view FileNameOf(std::string_view path);

/// Makes a set of finished files durable: each file, then each of their folders once, and
/// the folders above up to `root`, so that no name can be lost.
Status SyncAll(Env& env, const std::vector<std::string>& paths, const std::string& root);

}  // namespace amend
