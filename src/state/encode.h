#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "partition/partition_set.h"

namespace amend::state {

/// The stored forms of this room: exact, needing no partition space to be read back, for
/// plans, journals and the ledger. What people and scripts read (`--json`) is
/// partition::RangesToJson, which has words instead of ordinals.

/// {"shape": {"grain": "day", "values": 0}, "rest": […], "named": [[[values…], […]], …]}
/// where a line of times is a list of [first, end) pairs and, for NULL, null.
Json SetToJson(const partition::PartitionSet& set);
/// Damaged where it is not exactly what SetToJson writes; never aborts.
Result<partition::PartitionSet> SetFromJson(const Json& json);

/// {"time": 11386, "values": ["EU", null, 7, true]}; "time": null is the NULL partition.
Json PartitionToJson(const partition::Partition& partition);
Result<partition::Partition> PartitionFromJson(const Json& json);

/// Adds the members "format" and "seal" (SHA-256 of the canonical bytes of the rest), so
/// that stored text which a disk or a person changed is refused instead of half believed.
Json Seal(Json object, int format);
/// Damaged where the seal does not fit; Unsupported, naming both numbers, where the
/// format is another than `format`. `what` names the document.
Status CheckSeal(const Json& object, int format, std::string_view what);

/// Reads members of one object by type. The first failure sticks and names the member;
/// after it every read gives an empty value, so a decoder checks `status` once, at its
/// end. Not thread-safe; borrows the JSON.
class JsonReader {
 public:
  JsonReader(const Json& object, std::string what);

  std::string Text(std::string_view member);
  std::int64_t Int(std::string_view member);
  std::uint64_t Unsigned(std::string_view member);
  bool Bool(std::string_view member);
  double Number(std::string_view member);
  /// An empty array or object after a failure.
  const Json& Array(std::string_view member);
  const Json& Object(std::string_view member);
  bool Has(std::string_view member) const;
  std::vector<std::string> Texts(std::string_view member);
  partition::PartitionSet Set(std::string_view member);

  /// Calls `read` for each element of an array of objects, until one fails.
  void Each(std::string_view member, const std::function<void(JsonReader&)>& read);
  /// Keeps `status` if it is the first failure.
  void Note(Status status);
  const Status& status() const { return status_; }
  const Json& json() const { return object_; }

 private:
  const Json* Find(std::string_view member, std::string_view expected,
                   bool (Json::*is)() const noexcept);

  const Json& object_;
  std::string what_;
  Status status_;
};

}  // namespace amend::state
