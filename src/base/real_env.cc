// The real Env: POSIX calls and nothing else.
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "base/civil.h"
#include "base/env.h"
#include "base/text.h"

namespace amend {
namespace {

constexpr mode_t kFileMode = 0600;  // history is never more readable than its tables
constexpr mode_t kFolderMode = 0700;

Status FromErrno(int error, std::string_view action, const std::string& path) {
  std::string text =
      std::string("cannot ") + std::string(action) + " " + path + ": " + strerror(error);
  if (error == ENOENT || error == ENOTDIR) return NotFound(text);
  if (error == ENOSPC || error == EDQUOT) {
    return Exhausted(text).Hint("Free disk space, then run the same command again.");
  }
  if (error == EACCES || error == EPERM || error == EROFS || error == EEXIST) {
    return Invalid(text);
  }
  if (error == EAGAIN || error == EINTR || error == EMFILE) return Transient(text);
  return Internal(text);
}

/// Closes what it owns. Reads `-1` as nothing.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FromErrno(errno, "write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

class RealAppendFile : public AppendFile {
 public:
  RealAppendFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Status Append(std::string_view bytes) override {
    return WriteAll(fd_.get(), bytes, path_);
  }
  Status Sync() override {
    if (fdatasync(fd_.get()) != 0) return FromErrno(errno, "sync", path_);
    return {};
  }

 private:
  Descriptor fd_;
  std::string path_;
};

class RealFileLock : public FileLock {
 public:
  explicit RealFileLock(int fd) : fd_(fd) {}

 private:
  Descriptor fd_;
};

class RealEnv : public Env {
 public:
  Result<std::string> ReadFile(const std::string& path) override {
    AMEND_ASSIGN(FileInfo info, Info(path));
    return ReadRange(path, 0, info.size);
  }

  Result<std::string> ReadRange(const std::string& path, std::int64_t offset,
                                std::int64_t size) override {
    Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.ok()) return Fail(FromErrno(errno, "open", path));
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      ssize_t n = pread(fd.get(), bytes.data() + filled, bytes.size() - filled,
                        offset + static_cast<std::int64_t>(filled));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Fail(FromErrno(errno, "read", path));
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
    }
    bytes.resize(filled);
    return bytes;
  }

  Status WriteNewFile(const std::string& path, std::string_view bytes) override {
    AMEND_RETURN_IF_ERROR(CreateFolders(FolderOf(path)));
    Descriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
    if (!fd.ok()) return FromErrno(errno, "create", path);
    return WriteAll(fd.get(), bytes, path);
  }

  Status ReplaceFile(const std::string& path, std::string_view bytes) override {
    std::string temporary = path + "." + NewUuid() + ".tmp";
    Status written = WriteNewFile(temporary, bytes);
    if (written.ok()) written = Sync(temporary);
    if (written.ok()) written = Rename(temporary, path);
    if (!written.ok()) {
      // The first failure is the one to report; a left-over file is gc's to find.
      if (Status removed = RemoveFile(temporary); !removed.ok()) return written;
      return written;
    }
    return SyncFolder(FolderOf(path));
  }

  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) override {
    AMEND_FAIL_IF_ERROR(CreateFolders(FolderOf(path)));
    int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
    if (fd < 0) return Fail(FromErrno(errno, "open", path));
    return std::make_unique<RealAppendFile>(fd, path);
  }

  Status Sync(const std::string& path) override { return SyncAny(path, O_RDONLY); }
  Status SyncFolder(const std::string& path) override {
    return SyncAny(path, O_RDONLY | O_DIRECTORY);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    AMEND_RETURN_IF_ERROR(CreateFolders(FolderOf(to)));
    if (rename(from.c_str(), to.c_str()) != 0) return FromErrno(errno, "rename", from);
    return {};
  }

  Status RemoveFile(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return FromErrno(errno, "remove", path);
    }
    return {};
  }

  Status RemoveEmptyFolder(const std::string& path) override {
    if (rmdir(path.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY &&
        errno != EEXIST) {
      return FromErrno(errno, "remove folder", path);
    }
    return {};
  }

  Status CreateFolders(const std::string& path) override {
    if (path.empty() || path == "/") return {};
    if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) return {};
    if (errno != ENOENT) return FromErrno(errno, "create folder", path);
    AMEND_RETURN_IF_ERROR(CreateFolders(FolderOf(path)));
    if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) return {};
    return FromErrno(errno, "create folder", path);
  }

  bool Exists(const std::string& path) override {
    return access(path.c_str(), F_OK) == 0;
  }

  Result<FileInfo> Info(const std::string& path) override {
    struct stat st{};
    if (stat(path.c_str(), &st) != 0) return Fail(FromErrno(errno, "open", path));
    return FileInfo{path, st.st_size, S_ISDIR(st.st_mode)};
  }

  Result<std::vector<FileInfo>> List(const std::string& path) override {
    std::vector<FileInfo> entries;
    std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), &closedir);
    if (!folder) {
      if (errno == ENOENT) return entries;
      return Fail(FromErrno(errno, "list", path));
    }
    while (const dirent* entry = readdir(folder.get())) {
      std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const std::string entry_path = path + "/" + std::string(name);
      // A file may vanish between readdir and stat; then it is not there.
      struct stat st{};
      if (lstat(entry_path.c_str(), &st) != 0) continue;
      const bool is_link = S_ISLNK(st.st_mode);
      if (is_link && stat(entry_path.c_str(), &st) != 0) st = {};
      entries.push_back({entry_path, st.st_size, S_ISDIR(st.st_mode), is_link});
    }
    std::sort(entries.begin(), entries.end(),
              [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
    return entries;
  }

  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) override {
    AMEND_FAIL_IF_ERROR(CreateFolders(FolderOf(path)));
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
    if (fd < 0) return Fail(FromErrno(errno, "open", path));
    auto lock = std::make_unique<RealFileLock>(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      return Fail(Transient("another process holds " + path));
    }
    return lock;
  }

  std::int64_t NowMicros() override {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t SteadyMicros() override {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t CpuMicros() override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto micros = [](const timeval& t) { return t.tv_sec * 1'000'000 + t.tv_usec; };
    return micros(usage.ru_utime) + micros(usage.ru_stime);
  }
  std::int64_t ThreadCpuMicros() override {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * kMicrosPerSecond + now.tv_nsec / 1000;
  }
  std::int64_t PeakMemoryBytes() override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
  }
  void SleepMicros(std::int64_t micros) override {
    std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

  std::uint64_t Random64() override {
    std::uint64_t value = 0;
    AMEND_CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
    return value;
  }

  std::string UserName() override {
    if (const char* name = std::getenv("AMEND_USER"); name != nullptr && *name != '\0') {
      return name;
    }
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr) {
      return found->pw_name;
    }
    return std::to_string(getuid());
  }

 private:
  static Status SyncAny(const std::string& path, int flags) {
    Descriptor fd(open(path.c_str(), flags | O_CLOEXEC));
    if (!fd.ok()) return FromErrno(errno, "open", path);
    if (fsync(fd.get()) != 0) return FromErrno(errno, "sync", path);
    return {};
  }
};

}  // namespace

Env& Env::Real() {
  static RealEnv env;
  return env;
}

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::weakly_canonical(path, error);
  if (error) absolute = std::filesystem::absolute(path, error);
  return absolute.string();
}

std::string Env::NewUuid() {
  std::uint64_t high = Random64();
  std::uint64_t low = Random64();
  high = (high & 0xFFFFFFFFFFFF0FFFULL) | 0x0000000000004000ULL;
  low = (low & 0x3FFFFFFFFFFFFFFFULL) | 0x8000000000000000ULL;
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xFFFF),
                static_cast<unsigned>(high & 0xFFFF), static_cast<unsigned>(low >> 48),
                static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
  return text.data();
}

std::string FolderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::string_view FileNameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Status SyncAll(Env& env, const std::vector<std::string>& paths, const std::string& root) {
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    AMEND_RETURN_IF_ERROR(env.Sync(path));
    std::string folder = FolderOf(path);
    while (folder.size() >= root.size() && folders.insert(folder).second) {
      if (folder == root || folder == "/") break;
      folder = FolderOf(folder);
    }
  }
  for (const std::string& folder : folders) {
    AMEND_RETURN_IF_ERROR(env.SyncFolder(folder));
  }
  return {};
}

}  // namespace amend
