#include "testing/crash/still_env.h"

#include <unistd.h>

#include <filesystem>

namespace amend::testing {

namespace fs = std::filesystem;

std::string ScratchFolder(const std::string& name) {
  fs::path memory = "/dev/shm";
  bool usable = access(memory.c_str(), W_OK) == 0;
  fs::path base = usable ? memory : fs::temp_directory_path();
  fs::path folder = base / ("amend_crash_" + std::to_string(getpid()) + "_" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder.string();
}

FaultEnvOptions StillEnv::OptionsOf(const std::string& root, int turn) {
  constexpr std::int64_t kStart = 1'710'000'000'000'000;  // 2024-03-09
  constexpr std::int64_t kHour = 3'600'000'000;
  FaultEnvOptions options;
  options.root = root;
  options.now_micros = kStart + turn * kHour;
  options.seed = static_cast<std::uint64_t>(turn);
  return options;
}

}  // namespace amend::testing
