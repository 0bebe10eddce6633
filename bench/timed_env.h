#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/env.h"
#include "testing/fakes/forwarding_env.h"

namespace amend::bench {

/// The real Env that adds up how long its callers waited for stable storage, which says
/// more of the disk than of us. With several threads the waits add up too.
class TimedEnv : public testing::ForwardingEnv {
 public:
  TimedEnv() : ForwardingEnv(Env::Real()) {}

  std::int64_t sync_micros() const { return micros_; }
  std::int64_t syncs() const { return syncs_; }
  void Reset() { micros_ = syncs_ = 0; }

  Status Sync(const std::string& path) override {
    return Timed([&] { return ForwardingEnv::Sync(path); });
  }
  Status SyncFolder(const std::string& path) override {
    return Timed([&] { return ForwardingEnv::SyncFolder(path); });
  }

 private:
  template <typename Call>
  Status Timed(Call call) {
    std::int64_t before = SteadyMicros();
    Status status = call();
    micros_ += SteadyMicros() - before;
    ++syncs_;
    return status;
  }

  std::atomic<std::int64_t> micros_ = 0;
  std::atomic<std::int64_t> syncs_ = 0;
};

}  // namespace amend::bench
