#include "testing/sql_corpus/corpus.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sql/binder.h"

namespace amend::testing {
namespace {

using Kind = lineage::DeterminismFinding::Kind;

std::string KindName(Kind kind) {
  switch (kind) {
    case Kind::kRandom:
      return "random";
    case Kind::kClock:
      return "clock";
    case Kind::kUnordered:
      return "unordered";
    case Kind::kTies:
      return "ties";
  }
  return "";
}

std::map<std::string, std::vector<std::string>> MappingsOf(
    const lineage::BoundModel& model) {
  std::map<std::string, std::vector<std::string>> mappings;
  for (const lineage::InputRef& ref : model.inputs) {
    std::vector<std::string>& texts = mappings[ref.table];
    std::string text = MappingText(ref.mapping);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(text);
    }
  }
  for (auto& [table, texts] : mappings) std::sort(texts.begin(), texts.end());
  return mappings;
}

std::set<std::vector<std::string>> BranchesOf(const lineage::BoundModel& model) {
  std::set<std::vector<std::string>> branches;
  for (const auto& branch : model.extents) {
    std::vector<std::string> tables;
    for (std::size_t i : branch) tables.push_back(model.inputs.at(i).table);
    std::sort(tables.begin(), tables.end());
    branches.insert(tables);
  }
  return branches;
}

void Check(const CorpusEntry& entry, const lineage::BoundModel& model) {
  EXPECT_EQ(MappingsOf(model), entry.mappings);
  for (const lineage::OutputColumn& column : model.columns) {
    auto expected = entry.reads.find(column.name);
    if (expected != entry.reads.end()) {
      EXPECT_EQ(column.reads, expected->second) << "column " << column.name;
    }
  }
  for (const auto& [name, reads] : entry.reads) {
    EXPECT_TRUE(std::any_of(model.columns.begin(), model.columns.end(),
                            [&name = name](const auto& c) { return c.name == name; }))
        << "no column " << name;
  }
  if (entry.rows) {
    EXPECT_EQ(model.row_reads, *entry.rows);
  }
  if (entry.exists) {
    EXPECT_EQ(BranchesOf(model), *entry.exists);
  }
  std::set<std::string> kinds;
  for (const auto& finding : model.findings) kinds.insert(KindName(finding.kind));
  EXPECT_EQ(kinds, entry.findings);
  EXPECT_EQ(model.order_sensitive, entry.order_sensitive);
}

TEST(SqlCorpus, EachFileBindsToWhatItsHeaderSays) {
  auto corpus = ReadCorpus();
  ASSERT_TRUE(corpus) << corpus.error().ToString();
  ASSERT_FALSE(corpus->empty());
  auto binder = sql::Binder::Open();
  ASSERT_TRUE(binder) << binder.error().ToString();
  for (const CorpusEntry& entry : *corpus) {
    SCOPED_TRACE(entry.name);
    auto model = binder->Bind(entry.statement, entry.tables, entry.output);
    EXPECT_TRUE(model) << model.error().ToString();
    if (model) Check(entry, *model);
  }
}

}  // namespace
}  // namespace amend::testing
