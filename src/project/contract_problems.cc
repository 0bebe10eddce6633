#include <algorithm>

#include "base/text.h"
#include "project/load.h"

namespace amend::project {
namespace {

using lineage::OutputColumn;

class ContractReader {
 public:
  ContractReader(const lineage::Model& model, const lineage::BoundModel& bound)
      : model_(model), bound_(bound), report_(model.at.file, &problems_) {}

  std::vector<Problem> Read() {
    for (const lineage::ColumnContract& contract : model_.contracts) {
      const OutputColumn* column = Find(contract.name, contract.at.line, "columns");
      if (column != nullptr) ReadContract(contract, *column);
    }
    for (const std::string& name : model_.key) Find(name, model_.at.line, "key");
    for (const lineage::CheckSpec& check : model_.checks) {
      for (const std::string& name : check.columns) Find(name, check.at.line, "checks");
    }
    for (const partition::Dimension& dimension : model_.space.dimensions()) {
      const OutputColumn* column = Find(dimension.column, model_.at.line, "partition_by");
      if (column != nullptr) ReadDimension(dimension, *column);
    }
    return std::move(problems_);
  }

 private:
  const OutputColumn* Find(const std::string& name, int line, const std::string& key) {
    std::vector<std::string> names;
    for (const OutputColumn& column : bound_.columns) {
      if (ToLower(column.name) == ToLower(name)) return &column;
      names.push_back(column.name);
    }
    report_.Error(line, "unknown_column",
                  key + ": the SELECT gives no column '" + name + "'",
                  Suggest(name, names));
    return nullptr;
  }

  void ReadContract(const lineage::ColumnContract& contract, const OutputColumn& column) {
    if (contract.type && *contract.type != column.type) {
      report_.Error(contract.at.line, "type_mismatch",
                    "columns." + contract.name + ": declared " + *contract.type +
                        ", the SELECT gives " + column.type,
                    "CAST(… AS " + *contract.type + ") AS " +
                        SqlIdentifier(contract.name) + ", or change the contract");
    }
    const bool number = column.type == "INTEGER" || column.type == "BIGINT" ||
                        column.type == "FLOAT" || column.type == "DOUBLE" ||
                        column.type.starts_with("DECIMAL");
    if (contract.tolerance > 0 && !number) {
      report_.Error(contract.at.line, "bad_value",
                    "columns." + contract.name +
                        ": a tolerance needs a number, this is " + column.type);
    }
  }

  void ReadDimension(const partition::Dimension& dimension, const OutputColumn& column) {
    if (dimension.kind != partition::Dimension::Kind::kTime) return;
    const bool date = column.type == "DATE";
    const bool fits = column.type.starts_with("TIMESTAMP") ||
                      (date && dimension.grain != partition::Grain::kHour);
    if (fits) return;
    report_.Error(model_.at.line, "bad_partition",
                  "partition_by: " + dimension.ToString() + " needs a time, '" +
                      column.name + "' is " + column.type,
                  "cast it to DATE or TIMESTAMP in the SELECT");
  }

  const lineage::Model& model_;
  const lineage::BoundModel& bound_;
  std::vector<Problem> problems_;
  Report report_;
};

}  // namespace

std::vector<Problem> ContractProblems(const lineage::Model& model,
                                      const lineage::BoundModel& bound) {
  return ContractReader(model, bound).Read();
}

}  // namespace amend::project
