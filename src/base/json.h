#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "nlohmann/json.hpp"

namespace amend {

/// JSON that keeps the order of its members: what people read, and foreign documents
/// whose unknown members must survive. 64-bit integers are exact.
using Json = nlohmann::ordered_json;

/// Parses a whole document. Damaged with the byte offset if it is not JSON; `what` names
/// the document in the message. Nesting deeper than `max_depth` levels is refused,
/// because whoever walks the value does so on the stack.
Result<Json> ParseJson(std::string_view text, std::string_view what, int max_depth = 200);

/// Members sorted by name, no blanks, UTF-8 (invalid bytes replaced): equal values have
/// equal bytes. What digests and the audit chain cover.
std::string CanonicalJson(const Json& value);

/// Members of an object by type; Damaged with the member's name if absent or of another
/// type. `what` names the document.
Result<std::string> JsonString(const Json& object, std::string_view member,
                               std::string_view what);
Result<std::int64_t> JsonInt(const Json& object, std::string_view member,
                             std::string_view what);

}  // namespace amend
