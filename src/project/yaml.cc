#include "project/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace amend::project {
namespace {

constexpr std::size_t kMaxNodes = 50'000;
constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxBytes = 4'000'000;

/// Ends the parse from inside a callback; caught below, never leaves this file.
struct Stop {};

std::size_t CountNodes(const YamlNode& node) {
  std::size_t count = 1;
  for (const YamlNode& item : node.items) count += CountNodes(item);
  for (const YamlMember& member : node.members) count += CountNodes(member.value);
  return count;
}

std::size_t DepthOf(const YamlNode& node) {
  std::size_t depth = 0;
  for (const YamlNode& item : node.items) depth = std::max(depth, DepthOf(item));
  for (const YamlMember& member : node.members) {
    depth = std::max(depth, DepthOf(member.value));
  }
  return depth + 1;
}

/// Builds YamlNodes from the parser's events. Events instead of the library's own tree:
/// that tree drops duplicate keys and shares aliased nodes without a bound.
class Builder : public YAML::EventHandler {
 public:
  Builder(int first_line, Report& report) : first_line_(first_line), report_(report) {}

  YamlNode root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Make(YamlNode::Kind::kNull, mark), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto it = anchors_.find(anchor);
    if (it == anchors_.end()) {
      Refuse(LineOf(mark), "yaml_alias", "this alias stands inside what it names",
             "write the value out");
    }
    Charge(it->second.nodes, LineOf(mark));
    if (stack_.size() + it->second.depth > kMaxDepth) RefuseDepth(LineOf(mark));
    YamlNode copy = it->second.node;
    copy.line = LineOf(mark);
    Add(std::move(copy), YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = Make(YamlNode::Kind::kScalar, mark);
    CheckTag(tag, node.line);
    node.text = value;
    node.quoted = tag != "?";
    Add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;  ///< of a map: its next node is the value of `key`
    std::string key;
    int key_line = 0;
  };

  int LineOf(const YAML::Mark& mark) const { return first_line_ + mark.line; }

  YamlNode Make(YamlNode::Kind kind, const YAML::Mark& mark) {
    Charge(1, LineOf(mark));
    YamlNode node;
    node.kind = kind;
    node.line = LineOf(mark);
    return node;
  }

  [[noreturn]] void Refuse(int line, std::string_view code, std::string text,
                           std::string hint) {
    report_.Error(line, code, std::move(text), std::move(hint));
    throw Stop();
  }
  /// Counts nodes before they are made or copied.
  void Charge(std::size_t nodes, int line) {
    nodes_ += nodes;
    if (nodes_ <= kMaxNodes) return;
    Refuse(line, "yaml_size",
           "the document has more than " + std::to_string(kMaxNodes) +
               " nodes, aliases expanded",
           "write out what is needed instead of nesting aliases");
  }
  [[noreturn]] void RefuseDepth(int line) {
    Refuse(line, "yaml_depth",
           "the document nests deeper than " + std::to_string(kMaxDepth) + " levels", "");
  }

  void CheckTag(const std::string& tag, int line) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    report_.Error(line, "yaml_tag", "explicit YAML types are not read: " + tag,
                  "take the tag out; text goes in quotes");
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    Frame frame;
    frame.node = Make(kind, mark);
    if (stack_.size() >= kMaxDepth) RefuseDepth(frame.node.line);
    CheckTag(tag, frame.node.line);
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void Close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Add(std::move(frame.node), frame.anchor);
  }

  void Add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      const std::size_t nodes = CountNodes(node);
      Charge(nodes, node.line);
      anchors_[anchor] = {node, nodes, DepthOf(node)};
    }
    if (stack_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.has_key) {
      parent.has_key = false;
      AddMember(parent, std::move(node));
    } else {
      if (node.kind != YamlNode::Kind::kScalar) {
        Refuse(node.line, "yaml_key", "a key must be a word",
               "put the key in quotes if it is meant as text");
      }
      parent.has_key = true;
      parent.key = std::move(node.text);
      parent.key_line = node.line;
    }
  }

  void AddMember(Frame& parent, YamlNode value) {
    for (const YamlMember& member : parent.node.members) {
      if (member.name != parent.key) continue;
      report_.Error(parent.key_line, "duplicate_key",
                    "the key '" + parent.key + "' is given twice, first on line " +
                        std::to_string(member.line),
                    "keep one of them");
      return;
    }
    parent.node.members.push_back({parent.key, parent.key_line, std::move(value)});
  }

  struct Anchored {
    YamlNode node;
    std::size_t nodes = 0;
    std::size_t depth = 0;
  };

  int first_line_;
  Report& report_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
};

/// The library takes byte 4 for the end of the text and stops there without a word.
bool ReportControlCharacters(std::string_view text, int first_line, Report& report) {
  int line = first_line;
  for (char c : text) {
    if (c == '\n') ++line;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\r' || c == '\t') continue;
    report.Error(line, "yaml_syntax",
                 "a control character (byte " + std::to_string(byte) + ") is not allowed",
                 "take it out, or write it as an escape inside double quotes");
    return true;
  }
  return false;
}

}  // namespace

const YamlNode* YamlNode::Find(std::string_view name) const {
  for (const YamlMember& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::optional<YamlNode> ParseYaml(std::string_view text, int first_line, Report& report) {
  if (text.size() > kMaxBytes) {
    report.Error(first_line, "yaml_size",
                 "the document has " + std::to_string(text.size()) + " bytes, at most " +
                     std::to_string(kMaxBytes) + " are read");
    return std::nullopt;
  }
  if (ReportControlCharacters(text, first_line, report)) return std::nullopt;
  Builder builder(first_line, report);
  Builder rest(first_line, report);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return YamlNode{};
    if (parser.HandleNextDocument(rest)) {
      report.Error(rest.root.line, "yaml_syntax", "a second YAML document starts here",
                   "take out the line '---'");
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? first_line : first_line + error.mark.line;
    report.Error(line, "yaml_syntax", "this is not YAML: " + error.msg,
                 "look at the indentation, and put text with ':' or '#' in quotes");
    return std::nullopt;
  } catch (const std::exception& error) {
    report.Error(first_line, "yaml_syntax",
                 std::string("this is not YAML: ") + error.what());
    return std::nullopt;
  }
  return std::move(builder.root);
}

}  // namespace amend::project
