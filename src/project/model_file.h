#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lineage/definition.h"
#include "project/partition_text.h"

namespace amend::project {

/// A model file cut in two. Lines are those of the file, 1-based, so that what the header
/// and the engine complain about is found.
struct ModelText {
  std::string header;   ///< YAML between `/*---` and `---*/`; empty without a header
  int header_line = 1;  ///< where `header` starts
  std::string sql;      ///< the rest, without blanks and one ';' around it
  int sql_line = 1;     ///< where `sql` starts
};

/// Cuts `text`; a byte order mark is dropped. Reports a header that does not end, one
/// that is not first in the file, bytes that are no UTF-8, and SQL that is empty or only
/// comments.
std::optional<ModelText> SplitModelFile(std::string_view text, Report& report);

/// A model whose declared inputs wait for the spaces of the tables they name.
struct ModelFile {
  lineage::Model model;
  std::vector<InputText> inputs;
};

/// Reads one file of models/. Nothing comes back where the file cannot be cut; else what
/// is wrong is reported and left at its default.
std::optional<ModelFile> ReadModelFile(const std::string& name, std::string_view text,
                                       Report& report);

/// The line (1-based) of the first byte that is not UTF-8, or nothing.
std::optional<int> FirstLineNotUtf8(std::string_view text);

}  // namespace amend::project
