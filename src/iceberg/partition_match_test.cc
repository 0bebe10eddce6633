#include "iceberg/partition_match.h"

#include <functional>
#include <random>

#include "gtest/gtest.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata_builder.h"

namespace amend::iceberg {
namespace {

struct PartitionedBy {
  std::string name;
  std::vector<std::pair<TypeId, std::string>> fields;  ///< source type, transform
};

TableMetadata TableOf(const PartitionedBy& by) {
  NewTable table;
  table.location = "file:///lake/t";
  for (std::size_t i = 0; i < by.fields.size(); ++i) {
    int id = static_cast<int>(i) + 1;
    table.schema.fields.push_back({.id = id,
                                   .name = "c" + std::to_string(id),
                                   .required = false,
                                   .type = Type{.id = by.fields[i].first},
                                   .doc = ""});
    table.spec.fields.push_back({.source_id = id,
                                 .field_id = 1000 + id,
                                 .name = "p" + std::to_string(id),
                                 .transform = Transform::Parse(by.fields[i].second)});
  }
  return *MetadataBuilder::Create(table, "u", 1)->Build();
}

Value RandomValue(TypeId type, std::mt19937& random) {
  std::int64_t number = static_cast<std::int64_t>(random() % 9) - 4;
  if (number == 4) return {};
  if (type == TypeId::kString) return Value("v" + std::to_string(number));
  if (type == TypeId::kBoolean) return Value(number > 0);
  if (type == TypeId::kDouble) return Value(static_cast<double>(number) / 2);
  return Value(number);
}

class PartitionMatch : public ::testing::TestWithParam<PartitionedBy> {
 protected:
  TableMetadata table_ = TableOf(GetParam());

  PartitionTuple RandomTuple(std::mt19937& random) const {
    PartitionTuple tuple;
    for (const auto& type : PartitionTypes(table_, table_.spec())) {
      tuple.push_back(RandomValue(type->id, random));
    }
    return tuple;
  }

  ManifestFile ManifestOf(const std::set<PartitionTuple>& tuples) const {
    std::vector<ManifestEntry> entries;
    for (const PartitionTuple& tuple : tuples) {
      ManifestEntry entry;
      entry.file.path = "file:///lake/t/f" + std::to_string(entries.size());
      entry.file.partition = tuple;
      entry.file.record_count = 1;
      entries.push_back(entry);
    }
    auto manifest = EncodeManifest("file:///lake/t/m.avro",
                                   {.schema = table_.schema(),
                                    .spec = table_.spec(),
                                    .is_deletes = false,
                                    .snapshot_id = 1,
                                    .sequence_number = 1},
                                   entries);
    AMEND_CHECK(manifest.has_value());
    return manifest->file;
  }
};

TEST_P(PartitionMatch, NeverMissesAManifestThatHoldsOneOfThem) {
  std::mt19937 random(7);
  int excluded = 0;
  for (int round = 0; round < 150; ++round) {
    std::set<PartitionTuple> wanted;
    std::set<PartitionTuple> held;
    for (std::size_t n = random() % 4 + 1; n > 0; --n) wanted.insert(RandomTuple(random));
    for (std::size_t n = random() % 3 + 1; n > 0; --n) held.insert(RandomTuple(random));
    PartitionMatcher matcher(table_, table_.spec(), wanted);
    bool holds = std::any_of(held.begin(), held.end(), [&](const PartitionTuple& tuple) {
      return wanted.contains(tuple);
    });
    bool may_hold = matcher.MayHold(ManifestOf(held));
    ASSERT_TRUE(may_hold || !holds) << "round " << round;
    excluded += may_hold ? 0 : 1;
  }
  EXPECT_TRUE(excluded > 10 || GetParam().name == "Unordered") << "it must prune, too";
}

INSTANTIATE_TEST_SUITE_P(
    Each, PartitionMatch,
    ::testing::Values(
        PartitionedBy{"Day", {{TypeId::kTimestamp, "day"}}},
        PartitionedBy{"DateAndText",
                      {{TypeId::kDate, "identity"}, {TypeId::kString, "identity"}}},
        PartitionedBy{"TextAndMonth",
                      {{TypeId::kString, "identity"}, {TypeId::kDate, "month"}}},
        PartitionedBy{"Flag",
                      {{TypeId::kBoolean, "identity"}, {TypeId::kLong, "identity"}}},
        PartitionedBy{"Unordered", {{TypeId::kDouble, "identity"}}}),
    [](const auto& each) { return each.param.name; });

TEST(PartitionMatchOdd, DamagedOrMissingSummariesExcludeNothing) {
  TableMetadata table = TableOf({"Day", {{TypeId::kTimestamp, "day"}}});
  PartitionMatcher matcher(table, table.spec(), {{Value(std::int64_t{5})}});
  ManifestFile manifest;
  EXPECT_TRUE(matcher.MayHold(manifest)) << "no summary";
  manifest.partitions = {{.contains_null = false,
                          .contains_nan = {},
                          .lower_bound = "12345678",
                          .upper_bound = "1"}};
  EXPECT_TRUE(matcher.MayHold(manifest)) << "bounds of a width that cannot be";
}

}  // namespace
}  // namespace amend::iceberg
