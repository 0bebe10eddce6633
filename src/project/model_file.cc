#include "project/model_file.h"

#include <algorithm>
#include <set>

#include "base/civil.h"
#include "base/text.h"
#include "project/columns.h"

namespace amend::project {
namespace {

using lineage::CheckKind;
using lineage::CheckSpec;
using lineage::Model;
using lineage::Replay;
using lineage::Severity;
using lineage::Writers;

constexpr std::string_view kOpen = "/*---";
constexpr std::string_view kClose = "---*/";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";

int CountLines(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

/// Bytes of the UTF-8 sequence that `text` starts with; 0 where it is none (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t SequenceLength(std::string_view text) {
  auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  auto follows = [byte](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    return first == 0xED && byte(1) > 0x9F ? 0 : 3;
  }
  if (first < 0xF0 || first > 0xF4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  return first == 0xF4 && byte(1) > 0x8F ? 0 : 4;
}

/// Where SQL starts that is neither blank, comment nor ';'; npos if nowhere.
std::size_t FirstStatement(std::string_view sql) {
  std::size_t at = 0;
  while (at < sql.size()) {
    if (kBlanks.find(sql[at]) != std::string_view::npos || sql[at] == ';') {
      ++at;
    } else if (sql.substr(at, 2) == "--") {
      at = std::min(sql.find('\n', at), sql.size());
    } else if (sql.substr(at, 2) == "/*") {
      const std::size_t end = sql.find("*/", at + 2);
      if (end == std::string_view::npos) return std::string_view::npos;
      at = end + 2;
    } else {
      return at;
    }
  }
  return std::string_view::npos;
}

/// The header's end, after reporting why there is none.
std::optional<std::size_t> HeaderEnd(std::string_view text, std::size_t open, int line,
                                     Report& report) {
  const std::size_t close = text.find(kClose, open + kOpen.size());
  const std::size_t comment_end = text.find("*/", open + kOpen.size());
  if (close != std::string_view::npos && comment_end == close + 3) return close;
  std::string found = "it is still open at the end of the file";
  if (comment_end != std::string_view::npos) {
    found = "the comment ends on line " +
            std::to_string(1 + CountLines(text.substr(0, comment_end))) + " with */";
  }
  report.Error(line, "header_end", "the header that starts here does not end: " + found,
               "end it with ---*/");
  return std::nullopt;
}

void TrimSql(std::string_view rest, int line, ModelText* split) {
  const std::size_t start = std::min(rest.find_first_not_of(kBlanks), rest.size());
  split->sql_line = line + CountLines(rest.substr(0, start));
  std::string_view sql = Trim(rest);
  if (sql.ends_with(';')) sql = Trim(sql.substr(0, sql.size() - 1));
  split->sql = sql;
}

class HeaderReader {
 public:
  HeaderReader(const YamlNode& node, Report& report)
      : in_(node, "", report), report_(report) {}

  void Read(ModelFile* file) {
    Model& model = file->model;
    if (const YamlNode* columns = in_.Take("columns")) {
      model.contracts = ReadColumns(*columns, "columns", ColumnsOf::kModel, report_);
    }
    const DeclaredColumns declared = DeclaredBy(model.contracts, ColumnsOf::kModel);
    if (const YamlNode* by = in_.Take("partition_by")) {
      if (auto space = ReadPartitionBy(*by, "partition_by", declared, report_)) {
        model.space = *std::move(space);
      }
    }
    model.key = ReadKey(in_, declared);
    if (const YamlNode* checks = in_.Take("checks")) ReadChecks(*checks, &model);
    if (const YamlNode* inputs = in_.Take("inputs")) ReadInputs(*inputs, file);
    if (const YamlNode* replay = in_.Take("replay")) ReadReplay(*replay, &model);
    model.writers = in_.Choice<Writers>("writers", {{"exclusive", Writers::kExclusive},
                                                    {"shared", Writers::kShared}})
                        .value_or(Writers::kExclusive);
    // A model that asks the clock is refused when it is bound; a header may say so.
    in_.Choice<bool>("clock", {{"refuse", true}});
    model.owner = in_.Text("owner").value_or("");
    model.tags = in_.Texts("tags");
    model.critical = in_.Bool("critical").value_or(false);
    model.allow_empty = in_.Bool("allow_empty").value_or(false);
    in_.Finish();
  }

 private:
  void ReadChecks(const YamlNode& node, Model* model) {
    if (node.kind != YamlNode::Kind::kList) {
      report_.Error(node.line, "wrong_type",
                    "checks: expected a list, found " + Found(node),
                    "such as  - rows_against_published: 30 %");
      return;
    }
    std::set<std::string> names;
    for (const YamlNode& item : node.items) {
      auto check = ReadCheck(item);
      if (!check) continue;
      if (!names.insert(check->name).second) {
        report_.Error(item.line, "duplicate_name",
                      "checks: two checks are named '" + check->name + "'",
                      "give one of them a name");
      }
      model->checks.push_back(*std::move(check));
    }
  }

  /// One item is a map with the check's kind as its first key: {unique: [a, b], …}.
  std::optional<CheckSpec> ReadCheck(const YamlNode& item) {
    Section in(item, "checks", report_);
    CheckSpec check;
    check.at = {report_.file(), item.line};
    int kinds = 0;
    if (const YamlNode* rows = in.Take("rows_against_published")) {
      ++kinds;
      check.kind = CheckKind::kRowsAgainstPublished;
      check.name = "rows_against_published";
      check.limit = AsShare(*rows, "checks.rows_against_published", report_).value_or(0);
    }
    kinds += ReadColumnCheck(in, "not_null", CheckKind::kNotNull, &check);
    kinds += ReadColumnCheck(in, "unique", CheckKind::kUnique, &check);
    if (const YamlNode* values = in.Take("accepted_values")) {
      ++kinds;
      check.kind = CheckKind::kAcceptedValues;
      check.values = AsTexts(*values, "checks.accepted_values", report_);
      check.columns = {in.Text("column").value_or("")};
      check.name = "accepted_values(" + check.columns[0] + ")";
      if (check.columns[0].empty()) {
        report_.Error(item.line, "missing_key",
                      "checks: accepted_values needs its column", "column: region");
      }
    }
    if (auto name = in.Text("name")) check.name = *name;
    check.severity = in.Choice<Severity>("severity", {{"block", Severity::kBlock},
                                                      {"warn", Severity::kWarn}})
                         .value_or(Severity::kBlock);
    in.Finish();
    if (kinds == 1) return check;
    if (item.kind == YamlNode::Kind::kMap) {
      report_.Error(item.line, "bad_check",
                    kinds == 0 ? "checks: this one says nothing to check"
                               : "checks: this one asks for two things",
                    "one of rows_against_published, not_null, unique, accepted_values");
    }
    return std::nullopt;
  }

  int ReadColumnCheck(Section& in, const std::string& name, CheckKind kind,
                      CheckSpec* check) {
    const YamlNode* columns = in.Take(name);
    if (columns == nullptr) return 0;
    check->kind = kind;
    check->columns = AsTexts(*columns, "checks." + name, report_);
    check->name = name + "(" + Join(check->columns, ", ") + ")";
    return 1;
  }

  void ReadInputs(const YamlNode& node, ModelFile* file) {
    Section in(node, "inputs", report_);
    for (const YamlMember& member : node.members) {
      if (auto input = ReadInput(member, report_)) file->inputs.push_back(*input);
    }
  }

  void ReadReplay(const YamlNode& node, Model* model) {
    if (node.kind == YamlNode::Kind::kMap) {
      Section in(node, "replay", report_);
      if (const YamlNode* code = in.Take("code")) {
        ReadReplayRule(*code, "replay.code", &model->replay);
      }
      in.Finish();
      return;
    }
    ReadReplayRule(node, "replay", &model->replay);
  }

  void ReadReplayRule(const YamlNode& node, const std::string& path,
                      lineage::ReplayPolicy* policy) {
    const std::string text = node.kind == YamlNode::Kind::kScalar ? node.text : "";
    constexpr std::string_view kSince = "since ";
    if (text == "all") {
      policy->code = Replay::kAll;
    } else if (text == "none") {
      policy->code = Replay::kNone;
    } else if (text == "ask") {
      policy->code = Replay::kAsk;
    } else if (auto day = text.starts_with(kSince)
                              ? ParseDay(Trim(text.substr(kSince.size())))
                              : std::nullopt) {
      policy->code = Replay::kSince;
      policy->code_since_day = *day;
    } else {
      report_.Error(
          node.line, "bad_value",
          path + ": expected all, since YYYY-MM-DD, none or ask, found " + Found(node),
          "such as: since 2024-01-01");
    }
  }

  Section in_;
  Report& report_;
};

}  // namespace

std::optional<int> FirstLineNotUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = SequenceLength(text.substr(at));
    if (length == 0) return 1 + CountLines(text.substr(0, at));
    at += length;
  }
  return std::nullopt;
}

std::optional<ModelText> SplitModelFile(std::string_view text, Report& report) {
  if (auto line = FirstLineNotUtf8(text)) {
    report.Error(*line, "not_utf8", "this line has bytes that are not UTF-8",
                 "save the file as UTF-8");
    return std::nullopt;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ModelText split;
  const std::size_t start = std::min(text.find_first_not_of(kBlanks), text.size());
  std::size_t body = 0;
  if (text.substr(start).starts_with(kOpen)) {
    split.header_line = 1 + CountLines(text.substr(0, start));
    auto close = HeaderEnd(text, start, split.header_line, report);
    if (!close) return std::nullopt;
    split.header = text.substr(start + kOpen.size(), *close - start - kOpen.size());
    body = *close + kClose.size();
  } else if (const std::size_t late = text.find(kOpen); late != std::string_view::npos) {
    report.Error(1 + CountLines(text.substr(0, late)), "header_place",
                 "a header must be the first thing in its file",
                 "move it up, or take the dashes out of this comment");
    return std::nullopt;
  }
  TrimSql(text.substr(body), 1 + CountLines(text.substr(0, body)), &split);
  if (FirstStatement(split.sql) == std::string_view::npos) {
    report.Error(split.sql_line, "empty_sql", "the model has no SELECT",
                 "write it below the header");
    return std::nullopt;
  }
  return split;
}

std::optional<ModelFile> ReadModelFile(const std::string& name, std::string_view text,
                                       Report& report) {
  auto split = SplitModelFile(text, report);
  if (!split) return std::nullopt;
  ModelFile file;
  file.model.name = name;
  file.model.at = {report.file(), split->header.empty() ? 1 : split->header_line};
  file.model.sql = std::move(split->sql);
  file.model.sql_line = split->sql_line;
  auto node = ParseYaml(split->header, split->header_line, report);
  if (node) HeaderReader(*node, report).Read(&file);
  return file;
}

}  // namespace amend::project
