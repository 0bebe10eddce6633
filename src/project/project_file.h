#pragma once

#include <string>
#include <string_view>

#include "lineage/definition.h"
#include "project/problem.h"

namespace amend::project {

inline constexpr const char* kProjectFile = "amend.yaml";
inline constexpr const char* kModelsFolder = "models";

/// What amend.yaml has where it says nothing; docs/cli.md prints these.
inline constexpr const char* kDefaultNamespace = "main";
inline constexpr const char* kDefaultCatalog = ".amend/catalog.db";
inline constexpr const char* kDefaultWarehouse = "warehouse";

/// amend.yaml as a project without models. `root` is the absolute project folder that
/// relative paths start from. What is wrong is reported and left at its default.
lineage::Project ReadProjectFile(std::string_view text, const std::string& root,
                                 Report& report);

}  // namespace amend::project
