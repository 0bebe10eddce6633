#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace amend {

class Env;

/// SHA-256 (FIPS 180-4), lower-case hex. For everything that names something: landed
/// files, definitions, plans, write sets, the audit chain.
std::string Sha256Hex(std::string_view bytes);

/// SHA-256 of a file of any size, read in pieces.
Result<std::string> Sha256File(Env& env, const std::string& path);

/// Incremental SHA-256 over length-prefixed fields, so that ("ab","c") and ("a","bc")
/// differ. Not thread-safe.
class Fingerprinter {
 public:
  Fingerprinter& Add(std::string_view field);
  Fingerprinter& Add(std::int64_t number);
  /// Lower-case hex of all fields added so far.
  std::string Hex() const;

 private:
  std::string bytes_;
};

}  // namespace amend
