// What mappings promise, tried on data: for every file of the corpus, change one upstream
// partition and see which output partitions change. All of them must be in Affected of
// that partition (never less than the truth), and where the file says `tight`, every pair
// that Affected allows must be seen to happen (no more than the truth).

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/civil.h"
#include "base/text.h"
#include "duck/database.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lineage/extent.h"
#include "partition/partition_set.h"
#include "sql/binder.h"
#include "testing/sql_corpus/corpus.h"

namespace amend::testing {
namespace {

using partition::Dimension;
using partition::Partition;
using partition::PartitionSet;
using partition::PartitionSpace;

constexpr std::uint32_t kSeed = 20'010'305;
constexpr int kChanges = 9;       ///< changed partitions per data set
constexpr int kTightRounds = 60;  ///< data sets until every allowed distance was seen

/// Data sets per file and pool of days. AMEND_TRIALS=50 looks longer than CI has time
/// for.
int Rounds() {
  const char* wanted = std::getenv("AMEND_TRIALS");
  return wanted == nullptr ? 1 : static_cast<int>(ParseInt(wanted).value_or(1));
}

/// Days that data falls on. Neighbours at the end of a leap February, across an ISO week;
/// and the ends of months, where shifts by months clamp.
const std::vector<std::vector<std::string>>& PoolsOfDays() {
  static const std::vector<std::vector<std::string>> kPools = {
      {"2024-02-24", "2024-02-25", "2024-02-26", "2024-02-27", "2024-02-28", "2024-02-29",
       "2024-03-01", "2024-03-02", "2024-03-03", "2024-03-04"},
      {"2023-01-28", "2023-01-31", "2023-02-01", "2023-02-28", "2023-03-01", "2023-03-28",
       "2023-03-30", "2023-03-31", "2023-04-01", "2023-04-30", "2023-05-01", "2023-12-31",
       "2024-01-01"}};
  return kPools;
}

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  int Roll(int sides) {
    return static_cast<int>(engine_() % static_cast<unsigned>(sides));
  }
  bool OneIn(int sides) { return Roll(sides) == 0; }

 private:
  std::mt19937 engine_;
};

duck::Value RandomValue(const std::string& type, const std::vector<std::string>& days,
                        Dice& dice) {
  if (dice.OneIn(9)) return {};
  std::int64_t day =
      *ParseDay(days[static_cast<std::size_t>(dice.Roll(static_cast<int>(days.size())))]);
  if (type == "DATE") return duck::Date{static_cast<std::int32_t>(day)};
  if (type.starts_with("TIMESTAMP")) {
    std::int64_t hour = dice.OneIn(2) ? 0 : dice.Roll(24);
    return duck::Timestamp{day * kMicrosPerDay + hour * kMicrosPerHour,
                           type != "TIMESTAMP"};
  }
  if (type == "VARCHAR") return std::string(1, static_cast<char>('a' + dice.Roll(3)));
  if (type == "BOOLEAN") return dice.OneIn(2);
  if (type == "DOUBLE") return static_cast<double>(dice.Roll(4));
  return static_cast<std::int64_t>(dice.Roll(3));
}

std::optional<std::int64_t> TimeOf(const duck::Value& value, partition::Grain grain) {
  if (const auto* date = std::get_if<duck::Date>(&value)) {
    return partition::PeriodContainingDay(grain, date->days).ordinal();
  }
  if (const auto* stamp = std::get_if<duck::Timestamp>(&value)) {
    return partition::PeriodContainingMicros(grain, stamp->micros).ordinal();
  }
  return std::nullopt;
}

partition::Value PartitionValue(const Dimension& dimension, const duck::Value& value) {
  if (duck::IsNull(value)) return {};
  if (dimension.kind == Dimension::Kind::kBucket) {  // Any function of the value will do.
    return std::get<std::int64_t>(value) % dimension.buckets;
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  return std::int64_t{std::get<duck::Date>(value).days};
}

/// The partition that a row of a table (or of the output) belongs to.
Partition PartitionOf(const PartitionSpace& space, const std::vector<std::string>& names,
                      const duck::Row& row) {
  Partition partition;
  for (const Dimension& dimension : space.dimensions()) {
    auto it = std::find(names.begin(), names.end(), dimension.column);
    const duck::Value& value = row.at(static_cast<std::size_t>(it - names.begin()));
    if (dimension.kind == Dimension::Kind::kTime) {
      partition.time = TimeOf(value, dimension.grain);
    } else {
      partition.values.push_back(PartitionValue(dimension, value));
    }
  }
  return partition;
}

std::string TextOfRow(const duck::Row& row) {
  std::string text;
  for (const duck::Value& value : row) text += duck::ToText(value) + "|";
  return text;
}

using Contents = std::map<Partition, std::multiset<std::string>>;

std::set<Partition> Differing(const Contents& a, const Contents& b) {
  std::set<Partition> differing;
  for (const auto& [partition, rows] : a) {
    auto it = b.find(partition);
    if (it == b.end() || it->second != rows) differing.insert(partition);
  }
  for (const auto& [partition, rows] : b) {
    if (!a.contains(partition)) differing.insert(partition);
  }
  return differing;
}

std::string CreateTable(const sql::InputTable& table) {
  std::vector<std::string> columns;
  for (const auto& column : table.columns) {
    columns.push_back(SqlIdentifier(column.name) + " " + column.type);
  }
  return "CREATE OR REPLACE TABLE " + SqlIdentifier(table.name) + " (" +
         Join(columns, ", ") + ");";
}

/// One table of an entry with its rows, here and in the engine.
struct Table {
  const sql::InputTable* definition = nullptr;
  std::vector<std::string> names;
  std::vector<duck::Row> rows;

  Partition PartitionOf(const duck::Row& row) const {
    return testing::PartitionOf(definition->space, names, row);
  }
};

class Trial {
 public:
  Trial(const CorpusEntry& entry, const lineage::BoundModel& model,
        duck::Connection& connection, Dice& dice)
      : entry_(entry), model_(model), connection_(connection), dice_(dice) {
    for (const sql::InputTable& definition : entry.tables) {
      Table table;
      table.definition = &definition;
      for (const auto& column : definition.columns) table.names.push_back(column.name);
      tables_.push_back(std::move(table));
    }
  }

  /// New data, then `changes` changes of one partition each.
  void Run(const std::vector<std::string>& days, int changes) {
    for (Table& table : tables_) {
      table.rows.clear();
      int count = 5 + dice_.Roll(14);
      for (int i = 0; i < count; ++i) table.rows.push_back(RandomRow(table, days));
      Store(table);
    }
    Contents before = Evaluate();
    CheckExtents(before);
    for (int i = 0; i < changes && !failed_; ++i) {
      Table& table =
          tables_[static_cast<std::size_t>(dice_.Roll(static_cast<int>(tables_.size())))];
      Partition changed = ChangeOnePartition(table, days);
      Store(table);
      Contents after = Evaluate();
      CheckChange(table.definition->name, changed, Differing(before, after));
      CheckExtents(after);
      for (const auto& [partition, rows] : after) outputs_.insert(partition);
      before = std::move(after);
    }
  }

  bool failed() const { return failed_; }

  /// Distances (day 3 of the input, day 5 of the output: two) that Affected allows
  /// between partitions met, and at which no change was ever seen. By distance, because
  /// data is too thin for every pair.
  std::map<std::string, std::string> NeverSeen() const {
    std::map<std::string, std::string> never;
    std::set<std::string> happened;
    for (const auto& [table, partition, output] : seen_) {
      happened.insert(Distance(table, partition, output));
    }
    for (const auto& [table, partition] : inputs_) {
      PartitionSet affected = Affected(table, partition);
      for (const Partition& output : outputs_) {
        std::string distance = Distance(table, partition, output);
        if (!affected.Contains(output) || happened.contains(distance)) continue;
        never[distance] = "a change of " + table + " " + Space(table).Format(partition) +
                          " may change " + entry_.output.Format(output);
      }
    }
    return never;
  }

  void CheckTight() const {
    for (const auto& [distance, example] : NeverSeen()) {
      ADD_FAILURE() << example << ", but at this distance (" << distance
                    << ") nothing ever changed";
    }
  }

 private:
  std::string Distance(const std::string& table, const Partition& input,
                       const Partition& output) const {
    std::string text = table;
    if (input.time && output.time && Space(table).has_time() &&
        entry_.output.has_time()) {
      partition::Period period(*Space(table).shape().grain, *input.time);
      std::int64_t from =
          partition::RoundDownTo(*entry_.output.shape().grain, period).ordinal();
      text += " " + std::to_string(*output.time - from);
    } else {
      text += input.time ? " time" : " NULL";
      text += output.time ? " time" : " NULL";
    }
    return text + (input.values == output.values ? " same" : " other");
  }

  duck::Row RandomRow(const Table& table, const std::vector<std::string>& days) {
    duck::Row row;
    for (const auto& column : table.definition->columns) {
      row.push_back(RandomValue(column.type, days, dice_));
    }
    return row;
  }

  static std::size_t TimeColumn(const Table& table) {
    const std::string& column = table.definition->space.time()->column;
    auto it = std::find(table.names.begin(), table.names.end(), column);
    return static_cast<std::size_t>(it - table.names.begin());
  }

  /// Takes some rows of the partition of a random row away, adds others to it.
  Partition ChangeOnePartition(Table& table, const std::vector<std::string>& days) {
    Partition partition = table.PartitionOf(RandomRow(table, days));
    bool timed = table.definition->space.has_time();
    if (timed && dice_.OneIn(6)) {
      partition.time = std::nullopt;
    } else if (!table.rows.empty() && dice_.OneIn(2)) {
      partition = table.PartitionOf(table.rows[static_cast<std::size_t>(
          dice_.Roll(static_cast<int>(table.rows.size())))]);
    }
    std::erase_if(table.rows, [&](const duck::Row& row) {
      return table.PartitionOf(row) == partition && dice_.OneIn(2);
    });
    int added = dice_.Roll(3);
    for (int tries = 0; added > 0 && tries < 400; ++tries) {
      duck::Row row = RandomRow(table, days);
      if (timed && !partition.time) row[TimeColumn(table)] = {};
      if (table.PartitionOf(row) != partition) continue;
      table.rows.push_back(std::move(row));
      --added;
    }
    return partition;
  }

  void Store(const Table& table) {
    std::string name = SqlIdentifier(table.definition->name);
    // Deleted rows would stay in the storage and slow every later scan.
    std::string sql = CreateTable(*table.definition);
    std::vector<std::string> rows;
    for (const duck::Row& row : table.rows) {
      std::vector<std::string> values;
      for (const duck::Value& value : row) values.push_back(duck::ToSqlLiteral(value));
      rows.push_back("(" + Join(values, ", ") + ")");
    }
    if (!rows.empty()) sql += "INSERT INTO " + name + " VALUES " + Join(rows, ", ");
    auto stored = connection_.Execute(sql);
    ASSERT_TRUE(stored) << stored.error().ToString();
  }

  Contents Evaluate() {
    Contents contents;
    auto rows = connection_.Query(entry_.statement.sql);
    EXPECT_TRUE(rows) << rows.error().ToString();
    if (!rows) return contents;
    std::vector<std::string> names;
    for (const auto& column : rows->columns) names.push_back(column.name);
    for (const duck::Row& row : rows->rows) {
      Partition partition = testing::PartitionOf(entry_.output, names, row);
      contents[partition].insert(TextOfRow(row));
    }
    return contents;
  }

  const PartitionSpace& Space(const std::string& table) const {
    for (const auto& definition : entry_.tables) {
      if (definition.name == table) return definition.space;
    }
    return entry_.output;
  }

  PartitionSet Affected(const std::string& table, const Partition& partition) const {
    PartitionSet affected = PartitionSet::Empty(entry_.output);
    PartitionSet changed = PartitionSet::Of(Space(table).shape(), partition);
    for (const lineage::InputRef& ref : model_.inputs) {
      if (ref.table == table) affected = affected.Union(ref.mapping.Affected(changed));
    }
    return affected;
  }

  void CheckChange(const std::string& table, const Partition& partition,
                   const std::set<Partition>& differing) {
    inputs_.insert({table, partition});
    PartitionSet affected = Affected(table, partition);
    for (const Partition& output : differing) {
      seen_.insert({table, partition, output});
      if (affected.Contains(output)) continue;
      failed_ = true;
      ADD_FAILURE() << "a change of " << table << " " << Space(table).Format(partition)
                    << " changed " << entry_.output.Format(output) << ", which is not in "
                    << partition::Describe(entry_.output, affected);
    }
  }

  void CheckExtents(const Contents& contents) {
    auto live = [this](const std::string& name) {
      PartitionSet set = PartitionSet::Empty(Space(name));
      for (const Table& table : tables_) {
        if (table.definition->name != name) continue;
        std::vector<Partition> points;
        for (const auto& row : table.rows) points.push_back(table.PartitionOf(row));
        set = PartitionSet::Of(Space(name).shape(), points);
      }
      return set;
    };
    // Where the extents are not known the union over all references is meant for
    // planning, and a SELECT may have rows without any input.
    if (model_.extents.empty()) return;
    PartitionSet possible =
        lineage::PossiblePartitions(model_, entry_.output.shape(), live);
    for (const auto& [partition, rows] : contents) {
      if (possible.Contains(partition)) continue;
      failed_ = true;
      ADD_FAILURE() << entry_.output.Format(partition) << " has rows, which is not in "
                    << partition::Describe(entry_.output, possible);
    }
  }

  const CorpusEntry& entry_;
  const lineage::BoundModel& model_;
  duck::Connection& connection_;
  Dice& dice_;
  std::vector<Table> tables_;
  std::set<std::pair<std::string, Partition>> inputs_;
  std::set<Partition> outputs_;
  std::set<std::tuple<std::string, Partition, Partition>> seen_;
  bool failed_ = false;
};

void TryOnData(const CorpusEntry& entry, const lineage::BoundModel& model,
               const duck::Database& database) {
  auto connection = database.Connect();
  ASSERT_TRUE(connection) << connection.error().ToString();
  Dice dice(kSeed);
  for (const auto& days : PoolsOfDays()) {
    Trial trial(entry, model, *connection, dice);
    bool check_tight = entry.tight && &days == &PoolsOfDays().front();
    for (int i = 0; i < Rounds(); ++i) {
      trial.Run(days, kChanges);
      if (trial.failed()) return;
    }
    // Data is random: go on until every distance was met, or it is plain that one is not.
    for (int i = 0; check_tight && i < kTightRounds && !trial.NeverSeen().empty(); ++i) {
      trial.Run(days, kChanges);
      if (trial.failed()) return;
    }
    if (check_tight) trial.CheckTight();
  }
}

constexpr std::size_t kShards = 4;

class SqlCorpusOnData : public ::testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Shards, SqlCorpusOnData,
                         ::testing::Range(std::size_t{0}, kShards));

TEST_P(SqlCorpusOnData, ChangesStayInsideWhatTheMappingsSay) {
  auto corpus = ReadCorpus();
  ASSERT_TRUE(corpus) << corpus.error().ToString();
  auto binder = sql::Binder::Open();
  ASSERT_TRUE(binder) << binder.error().ToString();
  auto database = duck::Database::Open({});
  ASSERT_TRUE(database) << database.error().ToString();
  for (std::size_t i = GetParam(); i < corpus->size(); i += kShards) {
    const CorpusEntry& entry = (*corpus)[i];
    if (!entry.no_data.empty()) continue;
    SCOPED_TRACE(entry.name);
    auto model = binder->Bind(entry.statement, entry.tables, entry.output);
    ASSERT_TRUE(model) << model.error().ToString();
    TryOnData(entry, *model, *database);
  }
}

}  // namespace
}  // namespace amend::testing
