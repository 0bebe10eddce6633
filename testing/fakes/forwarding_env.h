#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"

namespace amend::testing {

/// An Env that hands every call on to another: the ground for those that watch, time or
/// answer a few calls themselves. As thread-safe as the other, which is borrowed.
class ForwardingEnv : public Env {
 public:
  explicit ForwardingEnv(Env& to) : to_(to) {}

  Result<std::string> ReadFile(const std::string& path) override {
    return to_.ReadFile(path);
  }
  Result<std::string> ReadRange(const std::string& path, std::int64_t offset,
                                std::int64_t size) override {
    return to_.ReadRange(path, offset, size);
  }
  Status WriteNewFile(const std::string& path, std::string_view bytes) override {
    return to_.WriteNewFile(path, bytes);
  }
  Status ReplaceFile(const std::string& path, std::string_view bytes) override {
    return to_.ReplaceFile(path, bytes);
  }
  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) override {
    return to_.OpenAppend(path);
  }
  Status Sync(const std::string& path) override { return to_.Sync(path); }
  Status SyncFolder(const std::string& path) override { return to_.SyncFolder(path); }
  Status Rename(const std::string& from, const std::string& to) override {
    return to_.Rename(from, to);
  }
  Status RemoveFile(const std::string& path) override { return to_.RemoveFile(path); }
  Status RemoveEmptyFolder(const std::string& path) override {
    return to_.RemoveEmptyFolder(path);
  }
  Status CreateFolders(const std::string& path) override {
    return to_.CreateFolders(path);
  }
  bool Exists(const std::string& path) override { return to_.Exists(path); }
  Result<FileInfo> Info(const std::string& path) override { return to_.Info(path); }
  Result<std::vector<FileInfo>> List(const std::string& path) override {
    return to_.List(path);
  }
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) override {
    return to_.TryLock(path);
  }
  std::int64_t NowMicros() override { return to_.NowMicros(); }
  std::int64_t SteadyMicros() override { return to_.SteadyMicros(); }
  std::int64_t CpuMicros() override { return to_.CpuMicros(); }
  std::int64_t ThreadCpuMicros() override { return to_.ThreadCpuMicros(); }
  std::int64_t PeakMemoryBytes() override { return to_.PeakMemoryBytes(); }
  void SleepMicros(std::int64_t micros) override { to_.SleepMicros(micros); }
  std::uint64_t Random64() override { return to_.Random64(); }
  std::string UserName() override { return to_.UserName(); }

 private:
  Env& to_;
};

}  // namespace amend::testing
