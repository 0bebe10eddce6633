#include "project/section.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace amend::project {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Whether YAML 1.1 and 1.2, or two libraries, give this plain word different meanings.
bool IsAmbiguous(std::string_view text) {
  const std::string word = ToLower(text);
  for (const char* truth :
       {"y", "n", "yes", "no", "on", "off", ".inf", "-.inf", ".nan"}) {
    if (word == truth) return true;
  }
  const std::size_t start = !word.empty() && (word[0] == '-' || word[0] == '+') ? 1 : 0;
  const std::string_view number = std::string_view(word).substr(start);
  if (number.empty() || !IsDigit(number[0])) return false;
  const bool all_digits = std::all_of(number.begin(), number.end(), IsDigit);
  if (all_digits) return number.size() > 1 && number[0] == '0';
  if (number[0] == '0' && number.size() > 2 &&
      (number[1] == 'x' || number[1] == 'o' || number[1] == 'b')) {
    return true;
  }
  return number.find_first_not_of("0123456789_:.") == std::string_view::npos &&
         number.find_first_of("_:") != std::string_view::npos;
}

void Expected(const YamlNode& node, const std::string& path, const std::string& what,
              Report& report, std::string hint = "") {
  report.Error(node.line, "wrong_type",
               path + ": expected " + what + ", found " + Found(node), std::move(hint));
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string Found(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      return node.quoted ? "the text '" + node.text + "'" : "'" + node.text + "'";
  }
  return "nothing";
}

bool IsName(std::string_view text) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || text.size() > 200 || !(letter(text[0]) || text[0] == '_')) {
    return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || IsDigit(c) || c == '_'; });
}

std::optional<std::string> AsText(const YamlNode& node, const std::string& path,
                                  Report& report) {
  if (node.kind != YamlNode::Kind::kScalar || (node.text.empty() && !node.quoted)) {
    Expected(node, path, "text", report);
    return std::nullopt;
  }
  if (!node.quoted && IsAmbiguous(node.text)) {
    report.Error(node.line, "ambiguous",
                 path + ": '" + node.text +
                     "' means different things to different YAML "
                     "readers",
                 "put it in quotes: \"" + node.text + "\"");
    return std::nullopt;
  }
  return node.text;
}

std::optional<bool> AsBool(const YamlNode& node, const std::string& path,
                           Report& report) {
  if (node.kind == YamlNode::Kind::kScalar && !node.quoted) {
    if (node.text == "true") return true;
    if (node.text == "false") return false;
  }
  Expected(node, path, "true or false", report);
  return std::nullopt;
}

std::optional<std::int64_t> AsInt(const YamlNode& node, const std::string& path,
                                  Report& report) {
  if (node.kind == YamlNode::Kind::kScalar && !node.quoted) {
    auto number = ParseInt(node.text);
    if (number && !IsAmbiguous(node.text)) return number;
    if (number) {
      Expected(node, path, "a whole number without leading zeros", report,
               "write " + std::to_string(*number));
      return std::nullopt;
    }
  }
  Expected(node, path, "a whole number", report);
  return std::nullopt;
}

std::optional<double> AsShare(const YamlNode& node, const std::string& path,
                              Report& report) {
  if (node.kind == YamlNode::Kind::kScalar && !IsAmbiguous(node.text)) {
    std::string_view text = Trim(node.text);
    const bool percent = text.ends_with('%');
    if (percent) text = Trim(text.substr(0, text.size() - 1));
    auto number = ParseNumber(text);
    if (number && *number >= 0) return percent ? *number / 100 : *number;
  }
  Expected(node, path, "a share such as 0.5 or 50 %", report);
  return std::nullopt;
}

std::vector<std::string> AsTexts(const YamlNode& node, const std::string& path,
                                 Report& report) {
  std::vector<std::string> texts;
  auto add = [&](const YamlNode& item) {
    auto text = AsText(item, path, report);
    if (!text) return;
    if (std::find(texts.begin(), texts.end(), *text) != texts.end()) {
      report.Error(item.line, "duplicate", path + ": '" + *text + "' is listed twice");
      return;
    }
    texts.push_back(*std::move(text));
  };
  if (node.kind == YamlNode::Kind::kScalar) {
    add(node);
  } else if (node.kind == YamlNode::Kind::kList) {
    for (const YamlNode& item : node.items) add(item);
  } else {
    Expected(node, path, "a list of texts", report);
  }
  return texts;
}

Section::Section(const YamlNode& node, std::string path, Report& report)
    : node_(node), path_(std::move(path)), report_(report) {
  if (node.kind == YamlNode::Kind::kMap || node.kind == YamlNode::Kind::kNull) return;
  Expected(node, path_.empty() ? "the document" : path_, "a map of keys", report,
           "write 'key: value', one a line");
}

std::string Section::PathOf(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

int Section::LineOf(std::string_view name) const {
  for (const YamlMember& member : node_.members) {
    if (member.name == name) return member.line;
  }
  return node_.line;
}

const YamlNode* Section::Take(std::string_view name) {
  known_.emplace_back(name);
  return node_.Find(name);
}

std::optional<std::string> Section::Text(std::string_view name) {
  const YamlNode* node = Take(name);
  if (node == nullptr) return std::nullopt;
  return AsText(*node, PathOf(name), report_);
}

std::optional<std::string> Section::Name(std::string_view name) {
  auto text = Text(name);
  if (!text || IsName(*text)) return text;
  report_.Error(LineOf(name), "bad_name",
                PathOf(name) + ": '" + *text + "' is not a name",
                "a letter or '_', then letters, digits and '_'");
  return std::nullopt;
}

std::optional<bool> Section::Bool(std::string_view name) {
  const YamlNode* node = Take(name);
  if (node == nullptr) return std::nullopt;
  return AsBool(*node, PathOf(name), report_);
}

std::optional<std::int64_t> Section::Int(std::string_view name, std::int64_t least,
                                         std::int64_t most) {
  const YamlNode* node = Take(name);
  if (node == nullptr) return std::nullopt;
  auto number = AsInt(*node, PathOf(name), report_);
  if (!number || (*number >= least && *number <= most)) return number;
  report_.Error(node->line, "bad_value",
                PathOf(name) + ": expected a whole number from " + std::to_string(least) +
                    " to " + std::to_string(most) + ", found " + node->text);
  return std::nullopt;
}

std::vector<std::string> Section::Texts(std::string_view name) {
  const YamlNode* node = Take(name);
  if (node == nullptr) return {};
  return AsTexts(*node, PathOf(name), report_);
}

std::optional<std::size_t> Section::ChoiceIndex(std::string_view name,
                                                const std::vector<std::string>& words) {
  const YamlNode* node = Take(name);
  if (node == nullptr) return std::nullopt;
  if (node->kind == YamlNode::Kind::kScalar) {
    auto it = std::find(words.begin(), words.end(), node->text);
    if (it != words.end()) return static_cast<std::size_t>(it - words.begin());
    report_.Error(
        node->line, "bad_value",
        PathOf(name) + ": expected " + Join(words, ", ") + ", found " + Found(*node),
        NearestName(node->text, words) ? Suggest(node->text, words) : "");
    return std::nullopt;
  }
  Expected(*node, PathOf(name), "one of " + Join(words, ", "), report_);
  return std::nullopt;
}

void Section::Finish() {
  for (const YamlMember& member : node_.members) {
    if (std::find(known_.begin(), known_.end(), member.name) != known_.end()) continue;
    report_.Error(
        member.line, "unknown_key",
        "unknown key '" + member.name + "'" + (path_.empty() ? "" : " in " + path_),
        Suggest(member.name, known_));
  }
}

}  // namespace amend::project
