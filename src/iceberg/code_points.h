#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace amend::iceberg {

/// The first `count` code points of UTF-8 text (all of it if it has fewer). Nothing where
/// the text is not well-formed up to there: cutting it would be guessing.
std::optional<std::string_view> FirstCodePoints(std::string_view text, int count);

/// The least text of no more code points that sorts after every text starting with
/// `prefix`: the last code point raised by one, surrogates skipped, carried left past
/// U+10FFFF. Nothing if there is none. REQUIRES: well-formed UTF-8.
std::optional<std::string> NextAfterPrefix(std::string_view prefix);

/// The same for plain bytes.
std::optional<std::string> NextAfterBytes(std::string_view prefix);

}  // namespace amend::iceberg
