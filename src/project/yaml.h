#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "project/problem.h"

namespace amend::project {

struct YamlMember;

/// A YAML document as it was written: scalars stay text, and each reader says which type
/// it expects. Typed by the reader and not by the document, because YAML 1.1 makes 8 of
/// `010` and false of `NO`, and a library's typed access does so silently.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;     ///< kScalar
  bool quoted = false;  ///< kScalar: in quotes or a block, so it is text and nothing else
  int line = 0;         ///< of the file, 1-based
  std::vector<YamlNode> items;      ///< kList
  std::vector<YamlMember> members;  ///< kMap, in the order written, names unique

  const YamlNode* Find(std::string_view name) const;
};

struct YamlMember {
  std::string name;
  int line = 0;
  YamlNode value;
};

/// Reads one document. `first_line` is the line of the file where `text` starts. Reports
/// syntax errors, duplicate keys (the first one is kept), keys that are not scalars,
/// explicit types, control characters, a second document, more than 50,000 nodes with
/// aliases expanded (a few lines of aliases can mean billions), nesting beyond 32.
/// An empty document is a null node; nothing comes back where the text is no YAML.
std::optional<YamlNode> ParseYaml(std::string_view text, int first_line, Report& report);

}  // namespace amend::project
