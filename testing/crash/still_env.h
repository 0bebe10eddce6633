#pragma once

#include <cstdint>
#include <string>

#include "testing/fakes/fault_env.h"

namespace amend::testing {

/// The folder that a case works in is on a memory file system where there is one: a case
/// is about what a killed process leaves, and the kernel keeps that whatever was synced.
/// What syncs are for is tested by FaultEnv::LosePower, which knows what was synced.
std::string ScratchFolder(const std::string& name);

/// A FaultEnv in which nothing depends on the machine: two runs of one command over equal
/// folders make equal files. So fault points have the same numbers in every run, and two
/// crashes that leave equal folders need one rerun only.
class StillEnv : public FaultEnv {
 public:
  /// Worlds that share a folder get different turns: each has its own randomness, and its
  /// clock is an hour after that of the turn before.
  StillEnv(FaultScript& script, const std::string& root, int turn)
      : FaultEnv(Env::Real(), script, OptionsOf(root, turn)) {}

  std::int64_t CpuMicros() override { return 0; }
  std::int64_t ThreadCpuMicros() override { return 0; }
  std::int64_t PeakMemoryBytes() override { return 0; }

 private:
  static FaultEnvOptions OptionsOf(const std::string& root, int turn);
};

}  // namespace amend::testing
