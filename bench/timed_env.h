#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"

namespace amend::bench {

/// The real Env that adds up how long its callers waited for stable storage, which says
/// more of the disk than of us. With several threads the waits add up too.
class TimedEnv : public Env {
 public:
  std::int64_t sync_micros() const { return micros_; }
  std::int64_t syncs() const { return syncs_; }
  void Reset() { micros_ = syncs_ = 0; }

  Status Sync(const std::string& path) override {
    return Timed([&] { return real_.Sync(path); });
  }
  Status SyncFolder(const std::string& path) override {
    return Timed([&] { return real_.SyncFolder(path); });
  }

  Result<std::string> ReadFile(const std::string& path) override {
    return real_.ReadFile(path);
  }
  Result<std::string> ReadRange(const std::string& path, std::int64_t offset,
                                std::int64_t size) override {
    return real_.ReadRange(path, offset, size);
  }
  Status WriteNewFile(const std::string& path, std::string_view bytes) override {
    return real_.WriteNewFile(path, bytes);
  }
  Status ReplaceFile(const std::string& path, std::string_view bytes) override {
    return real_.ReplaceFile(path, bytes);
  }
  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) override {
    return real_.OpenAppend(path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return real_.Rename(from, to);
  }
  Status RemoveFile(const std::string& path) override { return real_.RemoveFile(path); }
  Status RemoveEmptyFolder(const std::string& path) override {
    return real_.RemoveEmptyFolder(path);
  }
  Status CreateFolders(const std::string& path) override {
    return real_.CreateFolders(path);
  }
  bool Exists(const std::string& path) override { return real_.Exists(path); }
  Result<FileInfo> Info(const std::string& path) override { return real_.Info(path); }
  Result<std::vector<FileInfo>> List(const std::string& path) override {
    return real_.List(path);
  }
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) override {
    return real_.TryLock(path);
  }
  std::int64_t NowMicros() override { return real_.NowMicros(); }
  std::int64_t SteadyMicros() override { return real_.SteadyMicros(); }
  std::int64_t CpuMicros() override { return real_.CpuMicros(); }
  std::int64_t ThreadCpuMicros() override { return real_.ThreadCpuMicros(); }
  std::int64_t PeakMemoryBytes() override { return real_.PeakMemoryBytes(); }
  void SleepMicros(std::int64_t micros) override { real_.SleepMicros(micros); }
  std::uint64_t Random64() override { return real_.Random64(); }
  std::string UserName() override { return real_.UserName(); }

 private:
  template <typename Call>
  Status Timed(Call call) {
    std::int64_t before = real_.SteadyMicros();
    Status status = call();
    micros_ += real_.SteadyMicros() - before;
    ++syncs_;
    return status;
  }

  Env& real_ = Env::Real();
  std::atomic<std::int64_t> micros_ = 0;
  std::atomic<std::int64_t> syncs_ = 0;
};

}  // namespace amend::bench
