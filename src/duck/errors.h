#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace amend::duck {

/// The limits that a message about exhaustion names.
struct Limits {
  std::int64_t memory_bytes = 0;  ///< 0 = the engine's default
  bool can_spill = false;
};

/// Turns the engine's message ("Binder Error: text … LINE 3: …") into a Status: the code
/// by the kind of error, the line into the place, the engine's advice about its own
/// settings dropped. By the text, because prepared statements give no error type.
Status StatusOf(std::string_view engine_message, const Limits& limits);

}  // namespace amend::duck
