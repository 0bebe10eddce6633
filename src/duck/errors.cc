#include "duck/errors.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

namespace amend::duck {
namespace {

struct EngineError {
  std::string_view kind;  ///< "Binder"
  std::string text;       ///< without the kind and the quoted line
  std::optional<int> line;
};

std::optional<int> LineOf(std::string_view message) {
  constexpr std::string_view kMark = "\nLINE ";
  auto at = message.rfind(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = message.substr(at + kMark.size());
  auto number = ParseInt(rest.substr(0, rest.find(':')));
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

EngineError Split(std::string_view message) {
  EngineError error;
  constexpr std::string_view kColon = " Error: ";
  auto colon = message.find(kColon);
  std::string_view text = message;
  if (colon != std::string_view::npos && message.find('\n') > colon) {
    error.kind = message.substr(0, colon);
    text.remove_prefix(colon + kColon.size());
  }
  error.line = LineOf(text);
  if (error.line) text = text.substr(0, text.rfind("\nLINE "));
  for (char letter : std::string(Trim(text))) {
    if (letter == '\n' && !error.text.empty() && error.text.back() != ' ') {
      error.text += ' ';
    } else if (letter != '\n' && letter != '\t') {
      error.text += letter;
    }
  }
  return error;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Status OutOfMemory(const EngineError& error, const Limits& limits) {
  std::string limit = limits.memory_bytes > 0 ? HumanBytes(limits.memory_bytes)
                                              : std::string("the engine's default");
  // The engine's own figures say what it was doing; its advice does not apply to us.
  std::string detail = error.text.substr(0, error.text.find(" Possible solutions"));
  detail = detail.substr(0, detail.find(" Database is launched"));
  return Exhausted("the engine ran out of memory under its limit of " + limit + ": " +
                   detail)
      .Hint(limits.can_spill
                ? "raise limits.memory, or lower the number of threads or partitions per "
                  "task"
                : "raise limits.memory, or give the engine a folder to spill to");
}

Status InputOrOutput(const EngineError& error) {
  const std::string& text = error.text;
  if (Contains(text, "No space left") || Contains(text, "max_temp_directory_size")) {
    return Exhausted("the disk is full: " + text)
        .Hint("free space where the warehouse and the spill folder are, then resume");
  }
  if (Contains(text, "No files found") || Contains(text, "No such file")) {
    return NotFound(text);
  }
  return Transient(text);
}

/// Files that are cut, overwritten or not of the format: the engine reports them under
/// several kinds.
bool SaysDamaged(std::string_view text) {
  constexpr std::array<std::string_view, 9> kSigns = {
      "No magic bytes",       "Footer length",     "too small to be a Parquet",
      "TProtocolException",   "Invalid Parquet",   "ZSTD Decompression",
      "Snappy decompression", "Malformed Parquet", "corrupt"};
  for (std::string_view sign : kSigns) {
    if (Contains(text, sign)) return true;
  }
  return false;
}

Status ByKind(const EngineError& error, const Limits& limits) {
  std::string_view kind = error.kind;
  if (kind == "Out of Memory") return OutOfMemory(error, limits);
  if (kind == "INTERRUPT") return Transient("the statement was interrupted");
  if (SaysDamaged(error.text)) return Damaged(error.text);
  if (kind == "IO") return InputOrOutput(error);
  if (kind == "Conversion" || kind == "Out of Range" || kind == "Constraint" ||
      kind == "Invalid Input") {
    return Refused(error.text);
  }
  if (kind == "Connection" || kind == "HTTP" || kind == "TransactionContext") {
    return Transient(error.text);
  }
  if (kind == "INTERNAL" || kind == "FATAL" || kind == "Serialization") {
    return Internal("the engine failed: " + error.text);
  }
  if (kind == "Not implemented") return Unsupported(error.text);
  return Invalid(error.text);
}

}  // namespace

Status StatusOf(std::string_view engine_message, const Limits& limits) {
  EngineError error = Split(engine_message);
  if (error.text.empty()) return Internal("the engine failed without a message");
  Status status = ByKind(error, limits);
  if (error.line) return std::move(status).At("", error.line);
  return status;
}

}  // namespace amend::duck
