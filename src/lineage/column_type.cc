#include "lineage/column_type.h"

#include <array>
#include <optional>
#include <vector>

#include "base/text.h"

namespace amend::lineage {
namespace {

constexpr std::size_t kMaxText = 10'000;
constexpr int kMaxDepth = 16;
constexpr std::int64_t kMaxPrecision = 38;

struct Spelling {
  std::string_view written;
  std::string_view canonical;
};

constexpr auto kSpellings = std::to_array<Spelling>({
    {"boolean", "BOOLEAN"},
    {"bool", "BOOLEAN"},
    {"integer", "INTEGER"},
    {"int", "INTEGER"},
    {"int4", "INTEGER"},
    {"int32", "INTEGER"},
    {"bigint", "BIGINT"},
    {"long", "BIGINT"},
    {"int8", "BIGINT"},
    {"int64", "BIGINT"},
    {"float", "FLOAT"},
    {"real", "FLOAT"},
    {"float4", "FLOAT"},
    {"double", "DOUBLE"},
    {"float8", "DOUBLE"},
    {"double precision", "DOUBLE"},
    {"date", "DATE"},
    {"timestamp", "TIMESTAMP"},
    {"datetime", "TIMESTAMP"},
    {"timestamp without time zone", "TIMESTAMP"},
    {"timestamp with time zone", "TIMESTAMP WITH TIME ZONE"},
    {"timestamptz", "TIMESTAMP WITH TIME ZONE"},
    {"varchar", "VARCHAR"},
    {"text", "VARCHAR"},
    {"string", "VARCHAR"},
    {"char", "VARCHAR"},
    {"uuid", "UUID"},
    {"blob", "BLOB"},
    {"bytea", "BLOB"},
    {"binary", "BLOB"},
    {"varbinary", "BLOB"},
});

struct Refusal {
  std::string_view written;
  std::string_view instead;
};

constexpr auto kRefused = std::to_array<Refusal>({
    {"tinyint", "INTEGER"},
    {"smallint", "INTEGER"},
    {"utinyint", "INTEGER"},
    {"usmallint", "INTEGER"},
    {"uinteger", "BIGINT"},
    {"ubigint", "DECIMAL(20,0)"},
    {"hugeint", "DECIMAL(38,0)"},
    {"uhugeint", "DECIMAL(38,0)"},
    {"time", "VARCHAR"},
    {"time with time zone", "VARCHAR"},
    {"timetz", "VARCHAR"},
    {"interval", "BIGINT"},
    {"timestamp_s", "TIMESTAMP"},
    {"timestamp_ms", "TIMESTAMP"},
    {"timestamp_ns", "TIMESTAMP"},
    {"json", "VARCHAR"},
    {"bit", "VARCHAR"},
    {"enum", "VARCHAR"},
    {"union", "a STRUCT"},
    {"null", "a type"},
});

Status NoType(std::string_view text, std::string_view why = "") {
  std::vector<std::string> names = {"decimal(18,2)", "struct", "map"};
  for (const Spelling& spelling : kSpellings) names.emplace_back(spelling.written);
  auto nearest = NearestName(text, names);
  return Invalid("'" + std::string(text) + "' is not a column type" +
                 (why.empty() ? "" : ": " + std::string(why)))
      .Value(std::string(text))
      .Hint(
          nearest && why.empty()
              ? "did you mean " + *nearest + "?"
              : "types are BOOLEAN, INTEGER, BIGINT, FLOAT, DOUBLE, DECIMAL(p,s), DATE, "
                "TIMESTAMP, TIMESTAMP WITH TIME ZONE, VARCHAR, UUID, BLOB, T[], "
                "STRUCT(name T, …), MAP(K, V)");
}

/// Lower case, blanks to one: "TIMESTAMP  With Time Zone".
std::string Simplified(std::string_view text) {
  std::string out;
  for (char c : ToLower(Trim(text))) {
    if (c == ' ' || c == '\t' || c == '\n') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

/// Splits at commas outside parentheses and quotes; nothing where those do not balance.
std::optional<std::vector<std::string_view>> Arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(') ++depth;
    if (c == ')' && --depth < 0) return std::nullopt;
    if (c == ',' && depth == 0) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (depth != 0 || quoted) return std::nullopt;
  parts.push_back(text.substr(start));
  return parts;
}

Result<std::string> Canonical(std::string_view text, int depth);

Result<std::string> CanonicalDecimal(std::string_view whole,
                                     const std::vector<std::string_view>& arguments) {
  auto precision = ParseInt(Trim(arguments.front()));
  auto scale = arguments.size() == 2 ? ParseInt(Trim(arguments[1])) : std::int64_t{0};
  if (arguments.size() > 2 || !precision || !scale || *precision < 1 ||
      *precision > kMaxPrecision || *scale < 0 || *scale > *precision) {
    return Fail(NoType(whole, "expected DECIMAL(p,s) with p from 1 to 38 and s up to p"));
  }
  return "DECIMAL(" + std::to_string(*precision) + "," + std::to_string(*scale) + ")";
}

/// The name at the start of a member, and where its type starts; nothing if there is
/// none.
struct MemberName {
  std::string name;
  std::size_t end = 0;
};

std::optional<MemberName> ReadName(std::string_view member) {
  if (member.empty() || member.front() != '"') {
    std::size_t end = member.find_first_of(" \t\n");
    if (end == std::string_view::npos) return std::nullopt;
    return MemberName{std::string(member.substr(0, end)), end};
  }
  MemberName read;
  for (std::size_t i = 1; i < member.size(); ++i) {
    if (member[i] == '"') {
      if (i + 1 >= member.size() || member[i + 1] != '"') {
        read.end = i + 1;
        return read;
      }
      ++i;
    }
    read.name += member[i];
  }
  return std::nullopt;
}

/// One member of a struct. Its name is always quoted, so that one type has one spelling.
Result<std::string> CanonicalMember(std::string_view member, int depth) {
  member = Trim(member);
  auto name = ReadName(member);
  if (!name || name->name.empty()) {
    return Fail(NoType(member, "expected a member's name and its type"));
  }
  AMEND_ASSIGN(std::string type, Canonical(member.substr(name->end), depth + 1));
  return SqlIdentifier(name->name) + " " + type;
}

Result<std::string> CanonicalStruct(const std::vector<std::string_view>& arguments,
                                    int depth) {
  std::vector<std::string> members;
  for (std::string_view argument : arguments) {
    AMEND_ASSIGN(std::string member, CanonicalMember(argument, depth));
    members.push_back(std::move(member));
  }
  return "STRUCT(" + Join(members, ", ") + ")";
}

Result<std::string> CanonicalMap(std::string_view whole,
                                 const std::vector<std::string_view>& arguments,
                                 int depth) {
  if (arguments.size() != 2) return Fail(NoType(whole, "expected MAP(K, V)"));
  AMEND_ASSIGN(std::string key, Canonical(arguments[0], depth + 1));
  AMEND_ASSIGN(std::string value, Canonical(arguments[1], depth + 1));
  return "MAP(" + key + ", " + value + ")";
}

Result<std::string> WithArguments(std::string_view text, std::size_t open, int depth) {
  if (text.back() != ')') return Fail(NoType(text, "a ')' is missing at its end"));
  const std::string name = Simplified(text.substr(0, open));
  auto arguments = Arguments(text.substr(open + 1, text.size() - open - 2));
  if (!arguments) return Fail(NoType(text, "its brackets do not match"));
  if (name == "decimal" || name == "numeric") return CanonicalDecimal(text, *arguments);
  if (name == "struct" || name == "row") return CanonicalStruct(*arguments, depth);
  if (name == "map") return CanonicalMap(text, *arguments, depth);
  // The engine ignores the length, so it would promise what nothing checks.
  if (name == "varchar" || name == "char" || name == "text" || name == "string") {
    return Fail(Unsupported("'" + std::string(text) +
                            "' has a length, which no reader of the "
                            "table enforces")
                    .Value(std::string(text))
                    .Hint("write VARCHAR"));
  }
  return Canonical(text.substr(0, open), depth).and_then([&](const std::string&) {
    return Result<std::string>(Fail(NoType(text, "this type takes no arguments")));
  });
}

Result<std::string> Canonical(std::string_view text, int depth) {
  text = Trim(text);
  if (depth > kMaxDepth) return Fail(NoType(text, "it is nested too deeply"));
  if (text.size() > 2 && text.ends_with("]")) {
    if (!text.ends_with("[]")) {
      return Fail(Unsupported("'" + std::string(text) + "' is an array of fixed length")
                      .Value(std::string(text))
                      .Hint("write T[], a list of any length"));
    }
    AMEND_ASSIGN(std::string element,
                 Canonical(text.substr(0, text.size() - 2), depth + 1));
    return element + "[]";
  }
  const std::string name = Simplified(text);
  for (const Spelling& spelling : kSpellings) {
    if (spelling.written == name) return std::string(spelling.canonical);
  }
  const std::string outer = Simplified(std::string_view(name).substr(0, name.find('(')));
  for (const Refusal& refusal : kRefused) {
    if (refusal.written != outer) continue;
    return Fail(Unsupported("a table cannot hold the type " + std::string(text))
                    .Value(std::string(text))
                    .Hint("use " + std::string(refusal.instead)));
  }
  if (name == "decimal" || name == "numeric") {
    return Fail(NoType(text, "DECIMAL needs its precision and scale"));
  }
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) return Fail(NoType(text));
  return WithArguments(text, open, depth);
}

}  // namespace

Result<std::string> CanonicalType(std::string_view text) {
  if (text.size() > kMaxText) {
    return Fail(Invalid("a column type of " + std::to_string(text.size()) +
                        " bytes is longer than any real one"));
  }
  return Canonical(text, 0);
}

}  // namespace amend::lineage
