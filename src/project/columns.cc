#include "project/columns.h"

#include <cmath>
#include <map>

#include "base/text.h"
#include "lineage/column_type.h"

namespace amend::project {
namespace {

using lineage::ColumnContract;

constexpr std::size_t kMaxName = 255;

class ColumnsReader {
 public:
  ColumnsReader(std::string path, ColumnsOf of, Report& report)
      : path_(std::move(path)), of_(of), report_(report) {}

  std::vector<ColumnContract> Read(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kMap) {
      for (const YamlMember& member : node.members) {
        ReadMember(member.name, member.line, member.value);
      }
    } else if (node.kind == YamlNode::Kind::kList) {
      for (const YamlNode& item : node.items) ReadItem(item);
    } else {
      report_.Error(node.line, "wrong_type",
                    path_ + ": expected a map of columns, found " + Found(node),
                    "such as  id: BIGINT  one a line");
    }
    return std::move(columns_);
  }

 private:
  void ReadItem(const YamlNode& item) {
    const YamlNode* name =
        item.kind == YamlNode::Kind::kMap ? item.Find("name") : nullptr;
    if (name == nullptr) {
      report_.Error(item.line, "wrong_type",
                    path_ + ": expected {name: …, type: …}, found " + Found(item));
      return;
    }
    auto text = AsText(*name, path_ + ".name", report_);
    if (text) ReadMember(*text, item.line, item);
  }

  void ReadMember(const std::string& name, int line, const YamlNode& value) {
    if (!CheckName(name, line)) return;
    ColumnContract column;
    column.name = name;
    column.at = {report_.file(), line};
    const std::string path = path_ + "." + name;
    if (value.kind == YamlNode::Kind::kMap) {
      Section in(value, path, report_);
      if (value.Find("name") != nullptr) in.Take("name");
      if (const YamlNode* type = in.Take("type")) column.type = ReadType(*type, path);
      ReadNullable(in, &column);
      if (of_ == ColumnsOf::kModel) ReadContract(in, &column);
      in.Finish();
    } else {
      column.type = ReadType(value, path);
    }
    if (of_ == ColumnsOf::kSource && !column.type && !failed_type_) {
      report_.Error(line, "missing_key", path + ": a source's column needs its type",
                    "e.g. " + name + ": VARCHAR");
    }
    failed_type_ = false;
    columns_.push_back(std::move(column));
  }

  bool CheckName(const std::string& name, int line) {
    const std::string lower = ToLower(name);
    if (name.empty() || name.size() > kMaxName) {
      report_.Error(line, "bad_name", path_ + ": a column's name has 1 to 255 bytes");
      return false;
    }
    if (lower.starts_with("_amend")) {
      report_.Error(line, "reserved_name",
                    path_ + ": names that start with _amend belong to landing",
                    "give '" + name + "' another name");
      return false;
    }
    auto [it, is_new] = seen_.emplace(lower, line);
    if (is_new) return true;
    report_.Error(line, "duplicate_name",
                  path_ + ": the column '" + name + "' is given twice, first on line " +
                      std::to_string(it->second),
                  "names are compared without case");
    return false;
  }

  std::optional<std::string> ReadType(const YamlNode& node, const std::string& path) {
    auto text = AsText(node, path + ".type", report_);
    auto type = text ? lineage::CanonicalType(*text)
                     : Result<std::string>(Fail(Invalid("no type")));
    if (type) return *std::move(type);
    failed_type_ = true;
    if (text) {
      const Status& status = type.error();
      report_.Error(node.line,
                    status.code() == StatusCode::kInvalid ? "bad_type" : "unsupported",
                    path + ": " + status.message(), status.hint());
    }
    return std::nullopt;
  }

  void ReadNullable(Section& in, ColumnContract* column) {
    auto nullable = in.Bool("nullable");
    auto not_null = in.Bool("not_null");
    if (nullable && not_null && *nullable == *not_null) {
      report_.Error(in.LineOf("not_null"), "bad_value",
                    in.PathOf("not_null") + " contradicts nullable", "keep one of them");
    }
    column->not_null = not_null.value_or(false) || !nullable.value_or(true);
  }

  void ReadContract(Section& in, ColumnContract* column) {
    column->unique = in.Bool("unique").value_or(false);
    column->accepted_values = in.Texts("accepted_values");
    const YamlNode* tolerance = in.Take("tolerance");
    if (tolerance == nullptr) return;
    auto share = AsShare(*tolerance, in.PathOf("tolerance"), report_);
    if (!share) return;
    if (tolerance->text.find('%') != std::string::npos) {
      report_.Error(
          tolerance->line, "bad_value",
          in.PathOf("tolerance") + ": expected an absolute difference, found a share",
          "such as 0.01, in the column's own unit");
      return;
    }
    column->tolerance = *share;
  }

  std::string path_;
  ColumnsOf of_;
  Report& report_;
  std::vector<ColumnContract> columns_;
  std::map<std::string, int> seen_;
  bool failed_type_ = false;
};

}  // namespace

std::vector<ColumnContract> ReadColumns(const YamlNode& node, const std::string& path,
                                        ColumnsOf of, Report& report) {
  return ColumnsReader(path, of, report).Read(node);
}

DeclaredColumns DeclaredBy(const std::vector<ColumnContract>& contracts, ColumnsOf of) {
  DeclaredColumns declared;
  declared.complete = of == ColumnsOf::kSource;
  for (const ColumnContract& contract : contracts) {
    declared.columns.push_back(
        {contract.name, contract.type.value_or(""), !contract.not_null});
  }
  return declared;
}

std::vector<std::string> ReadKey(Section& in, const DeclaredColumns& columns) {
  std::vector<std::string> key = in.Texts("key");
  for (std::string& name : key) {
    if (const lineage::Column* column = columns.Find(name)) {
      name = column->name;
    } else if (columns.complete) {
      in.report().Error(in.LineOf("key"), "unknown_column",
                        in.PathOf("key") + ": no column '" + name + "'",
                        Suggest(name, columns.Names()));
    }
  }
  return key;
}

}  // namespace amend::project
