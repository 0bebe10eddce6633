#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "project/yaml.h"

namespace amend::project {

/// Reads a map member by member and then reports every key that nobody asked for, so the
/// set of known keys is the code that reads them and cannot drift from a list. Every
/// failed read reports and gives nothing; the caller goes on with its default, and one
/// run finds all problems. Borrows the node and the report.
class Section {
 public:
  /// `path` names the map in messages: "limits", "sources.flights", "" for the top. A
  /// node of another kind is reported; a null node is an empty map.
  Section(const YamlNode& node, std::string path, Report& report);

  /// The member's value, or null where it is absent. Marks the key as known.
  const YamlNode* Take(std::string_view name);
  std::optional<std::string> Text(std::string_view name);
  /// A letter or '_', then letters, digits, '_': what SQL needs no quotes for.
  std::optional<std::string> Name(std::string_view name);
  std::optional<bool> Bool(std::string_view name);
  std::optional<std::int64_t> Int(std::string_view name, std::int64_t least,
                                  std::int64_t most);
  /// One text, or a list of texts without repetition.
  std::vector<std::string> Texts(std::string_view name);

  /// One of a few words.
  template <typename T>
  std::optional<T> Choice(std::string_view name,
                          const std::vector<std::pair<std::string, T>>& choices) {
    auto index = ChoiceIndex(name, WordsOf(choices));
    if (!index) return std::nullopt;
    return choices[*index].second;
  }

  /// Reports the keys that were not taken. Call it last.
  void Finish();

  /// "limits.memory".
  std::string PathOf(std::string_view name) const;
  int LineOf(std::string_view name) const;
  int line() const { return node_.line; }
  Report& report() { return report_; }

 private:
  template <typename T>
  static std::vector<std::string> WordsOf(
      const std::vector<std::pair<std::string, T>>& choices) {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.push_back(choice.first);
    return words;
  }
  std::optional<std::size_t> ChoiceIndex(std::string_view name,
                                         const std::vector<std::string>& words);

  const YamlNode& node_;
  std::string path_;
  Report& report_;
  std::vector<std::string> known_;
};

/// Single values. `path` is what messages call them. Plain words that YAML versions read
/// differently (010, 0x1F, no, on, 12:30) are refused with "put it in quotes".
std::optional<std::string> AsText(const YamlNode& node, const std::string& path,
                                  Report& report);
/// `true` or `false` in lower case and not in quotes.
std::optional<bool> AsBool(const YamlNode& node, const std::string& path, Report& report);
std::optional<std::int64_t> AsInt(const YamlNode& node, const std::string& path,
                                  Report& report);
/// A finite number from 0 on, "0.5", or "50 %".
std::optional<double> AsShare(const YamlNode& node, const std::string& path,
                              Report& report);
std::vector<std::string> AsTexts(const YamlNode& node, const std::string& path,
                                 Report& report);

/// "a list", "nothing", "'text'": for "expected …, found …".
std::string Found(const YamlNode& node);
bool IsName(std::string_view text);

}  // namespace amend::project
