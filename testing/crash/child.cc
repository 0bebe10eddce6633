#include "testing/crash/child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/crash/disk_state.h"

namespace amend::testing {
namespace {

constexpr int kKilled = 137;

std::string ReadAll(int descriptor) {
  std::string bytes;
  char buffer[65536];
  for (;;) {
    ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  close(descriptor);
  return bytes;
}

void WriteAll(int descriptor, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    ssize_t wrote = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

/// The end status of a child.
int Wait(int process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool Stopped(int descriptor) {
  constexpr int kPauseMilliseconds = 1;
  pollfd waiting{descriptor, POLLIN, 0};
  return poll(&waiting, 1, kPauseMilliseconds) > 0;
}

/// The life of a poller.
Json LookUntilStopped(const std::string& catalog, int stop) {
  PointerReader reader(catalog);
  Json states = Json::array();
  int looks = 0;
  do {
    std::optional<Json> pointers = reader.Look();
    if (!pointers) continue;
    ++looks;
    if (states.empty() || states.back() != *pointers) {
      states.push_back(*std::move(pointers));
    }
  } while (!Stopped(stop));
  return Json{{"looks", looks}, {"states", states}};
}

}  // namespace

void Die() { _exit(kKilled); }

std::optional<Json> RunInChild(const std::function<Json()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  int process = fork();
  if (process == 0) {
    close(ends[0]);
    WriteAll(ends[1], body().dump());
    _exit(0);
  }
  close(ends[1]);
  std::string bytes = ReadAll(ends[0]);
  int code = Wait(process);
  if (code == kKilled) return std::nullopt;
  EXPECT_EQ(code, 0) << "a child crashed";
  if (code != 0) return Json{{"crashed", code}};
  return Json::parse(bytes);
}

Poller::Poller(const std::string& catalog) {
  int stop[2];
  int result[2];
  EXPECT_EQ(pipe(stop), 0);
  EXPECT_EQ(pipe(result), 0);
  process_ = fork();
  if (process_ == 0) {
    close(stop[1]);
    close(result[0]);
    WriteAll(result[1], LookUntilStopped(catalog, stop[0]).dump());
    _exit(0);
  }
  close(stop[0]);
  close(result[1]);
  stop_ = stop[1];
  result_ = result[0];
}

Sightings Poller::Finish() {
  close(std::exchange(stop_, -1));
  std::string bytes = ReadAll(std::exchange(result_, -1));
  EXPECT_EQ(Wait(std::exchange(process_, -1)), 0) << "the poller crashed";
  Json json = Json::parse(bytes);
  return {json["looks"].get<int>(), json["states"].get<std::vector<Json>>()};
}

Poller::~Poller() {
  if (process_ != -1) Finish();
}

}  // namespace amend::testing
