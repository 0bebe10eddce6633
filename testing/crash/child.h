#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"

namespace amend::testing {

/// Code under test runs in forked children only, so that a kill is a kill; the parent
/// starts no thread and never touches the engine, which does not survive a fork.

/// Ends this process at once, as SIGKILL would.
[[noreturn]] void Die();

/// Runs `body` in a child. Nothing where the child died by Die(); a child that ended in
/// any other way is a failure of the running test and gives an object with `crashed`.
std::optional<Json> RunInChild(const std::function<Json()>& body);

/// What a reader of all pointers saw.
struct Sightings {
  int looks = 0;
  /// Each state that differs from the one before, in order: table → metadata location.
  std::vector<Json> states;
};

/// A process that reads all pointers of a catalog again and again, each time in one
/// transaction, until it is asked what it saw.
class Poller {
 public:
  explicit Poller(const std::string& catalog);
  ~Poller();
  Sightings Finish();

 private:
  int stop_ = -1;    // closing it ends the poller
  int result_ = -1;  // what it saw comes here
  int process_ = -1;
};

}  // namespace amend::testing
