#include "base/status.h"

#include <cstdio>
#include <cstdlib>

namespace amend {

std::string_view CodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalid:
      return "invalid";
    case StatusCode::kNotFound:
      return "not_found";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kRefused:
      return "refused";
    case StatusCode::kConflict:
      return "conflict";
    case StatusCode::kExhausted:
      return "exhausted";
    case StatusCode::kUnknown:
      return "unknown_outcome";
    case StatusCode::kTransient:
      return "transient";
    case StatusCode::kDamaged:
      return "damaged";
    case StatusCode::kInternal:
      return "internal";
  }
  return "internal";
}

Status::Status(StatusCode code, std::string message)
    : code_(code), message_(std::move(message)) {
  AMEND_CHECK(code != StatusCode::kOk);
}

Status&& Status::At(std::string file, std::optional<int> line) && {
  place_.file = std::move(file);
  place_.line = line;
  return std::move(*this);
}
Status&& Status::Table(std::string table) && {
  place_.table = std::move(table);
  return std::move(*this);
}
Status&& Status::Partition(std::string partition) && {
  place_.partition = std::move(partition);
  return std::move(*this);
}
Status&& Status::Column(std::string column) && {
  place_.column = std::move(column);
  return std::move(*this);
}
Status&& Status::Value(std::string value) && {
  place_.value = std::move(value);
  return std::move(*this);
}
Status&& Status::Hint(std::string hint) && {
  hint_ = std::move(hint);
  return std::move(*this);
}

Status Status::Annotate(std::string_view context) const {
  Status copy = *this;
  if (!ok()) copy.message_ = std::string(context) + ": " + message_;
  return copy;
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text;
  if (!place_.file.empty()) {
    text += place_.file;
    if (place_.line) text += ":" + std::to_string(*place_.line);
    text += ": ";
  }
  text += message_;
  auto add = [&text](std::string_view label, const std::string& what) {
    if (!what.empty()) text += " [" + std::string(label) + " " + what + "]";
  };
  add("table", place_.table);
  add("partition", place_.partition);
  add("column", place_.column);
  add("value", place_.value);
  if (!hint_.empty()) text += "\n  " + hint_;
  return text;
}

#define AMEND_DEFINE_STATUS(Name)                           \
  Status Name(std::string message) {                        \
    return Status(StatusCode::k##Name, std::move(message)); \
  }
AMEND_DEFINE_STATUS(Invalid)
AMEND_DEFINE_STATUS(NotFound)
AMEND_DEFINE_STATUS(Unsupported)
AMEND_DEFINE_STATUS(Refused)
AMEND_DEFINE_STATUS(Conflict)
AMEND_DEFINE_STATUS(Exhausted)
AMEND_DEFINE_STATUS(Unknown)
AMEND_DEFINE_STATUS(Transient)
AMEND_DEFINE_STATUS(Damaged)
AMEND_DEFINE_STATUS(Internal)
#undef AMEND_DEFINE_STATUS

void CheckFailed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
  std::abort();
}

}  // namespace amend
