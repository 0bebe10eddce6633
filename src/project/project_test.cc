#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lineage/lineage.h"
#include "project/init.h"
#include "project/load.h"
#include "project/model_file.h"
#include "project/project_file.h"

namespace amend::project {
namespace {

using partition::Grain;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::TimeRuns;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kGoodProject = R"(name: shop
sources:
  orders:
    partition_by: day(ordered_at)
    key: order_id
    columns:
      order_id: {type: BIGINT, nullable: false}
      ordered_at: TIMESTAMP
      region: text
)";

/// A project in a folder of its own, removed with the fixture.
class ProjectTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("amend_" + Env::Real().NewUuid());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, std::string_view text) {
    ASSERT_TRUE(Env::Real().ReplaceFile(root_ + "/" + path, text).ok());
  }

  Loaded Load() { return LoadProject(Env::Real(), root_); }

  /// Every problem of amend.yaml as lines.
  std::string ProblemsOf(std::string_view yaml) {
    Write("amend.yaml", yaml);
    return Lines(Load());
  }

  /// Every problem of a model with this header, beside the good amend.yaml.
  std::string ProblemsOfHeader(const std::string& header) {
    Write("amend.yaml", kGoodProject);
    return ProblemsOfModel("/*---\n" + header + "---*/\nSELECT 1 AS a\n");
  }

  std::string ProblemsOfModel(const std::string& text) {
    std::filesystem::create_directories(root_ + "/models");
    Write("amend.yaml", kGoodProject);
    Write("models/m.sql", text);
    return Lines(Load());
  }

  static std::string Lines(const Loaded& loaded) {
    std::string lines;
    for (const Problem& problem : loaded.problems) lines += ToString(problem) + "\n";
    return lines;
  }

  /// The model of a header that must be right.
  lineage::Model ModelOf(const std::string& header) {
    EXPECT_EQ(ProblemsOfHeader(header), "");
    Loaded loaded = Load();
    EXPECT_EQ(loaded.project.models.size(), 1u);
    return loaded.project.models.empty() ? lineage::Model() : loaded.project.models[0];
  }

  std::string root_;
};

TEST_F(ProjectTest, ReadsEverythingThatAProjectSays) {
  Write("amend.yaml", R"(name: shop
namespace: retail
catalog: state/catalog.db
warehouse: /data/lake/
limits: {memory: 512MB, threads: 4}
policy: {tag_days: 30}
sources:
  orders:
    partition_by: [region, day(ordered_at)]
    key: [ORDER_ID]
    columns:
      - {name: order_id, type: bigint, not_null: true}
      - {name: ordered_at, type: timestamptz}
      - {name: region, type: varchar}
  fx: {kind: foreign}
)");
  Loaded loaded = Load();
  ASSERT_EQ(Lines(loaded), "");
  const lineage::Project& project = loaded.project;
  EXPECT_EQ(project.name, "shop");
  EXPECT_EQ(project.name_space, "retail");
  EXPECT_EQ(project.catalog, root_ + "/state/catalog.db");
  EXPECT_EQ(project.warehouse, "/data/lake");
  EXPECT_EQ(project.limits.memory_bytes, 512'000'000);
  EXPECT_EQ(project.limits.threads, 4);
  EXPECT_EQ(project.tag_days, 30);
  ASSERT_EQ(project.sources.size(), 2u);
  EXPECT_EQ(project.sources[0].name, "fx");
  EXPECT_EQ(project.sources[0].kind, lineage::SourceKind::kForeign);
  const lineage::Source& orders = project.sources[1];
  EXPECT_THAT(orders.key, ElementsAre("order_id"));
  EXPECT_EQ(orders.columns[0], (lineage::Column{"order_id", "BIGINT", false}));
  EXPECT_EQ(orders.columns[1].type, "TIMESTAMP WITH TIME ZONE");
  EXPECT_EQ(orders.space.ToString(), "region, day(ordered_at)");
  EXPECT_EQ(orders.at, (lineage::SourceLocation{"amend.yaml", 8}));
}

TEST_F(ProjectTest, ReadsEverythingThatAHeaderSays) {
  Write("amend.yaml", std::string(kGoodProject));
  std::filesystem::create_directories(root_ + "/models/daily");
  Write("models/daily/sales.sql", R"(
/*---
partition_by: [region, day(d)]
key: [d, region]
columns:
  d: {type: DATE, nullable: false}
  region: {type: VARCHAR, accepted_values: [EU, "NO"]}
  amount: {tolerance: 0.01}
checks:
  - rows_against_published: 30 %
    severity: warn
  - unique: [d, region]
    name: one_row
  - accepted_values: [a]
    column: region
inputs:
  orders: {lookback: 6 days}
replay: since 2024-01-31
writers: shared
clock: refuse
owner: finance
tags: [daily, gold]
critical: true
allow_empty: true
---*/

SELECT 1;
)");
  Loaded loaded = Load();
  ASSERT_EQ(Lines(loaded), "");
  ASSERT_EQ(loaded.project.models.size(), 1u);
  const lineage::Model& model = loaded.project.models[0];
  EXPECT_EQ(model.name, "sales");
  EXPECT_EQ(model.at, (lineage::SourceLocation{"models/daily/sales.sql", 2}));
  EXPECT_EQ(model.sql, "SELECT 1");
  EXPECT_EQ(model.sql_line, 27);
  EXPECT_EQ(model.space.ToString(), "region, day(d)");
  EXPECT_THAT(model.contracts[1].accepted_values, ElementsAre("EU", "NO"));
  EXPECT_TRUE(model.contracts[0].not_null);
  EXPECT_EQ(model.contracts[2].tolerance, 0.01);
  ASSERT_EQ(model.checks.size(), 3u);
  EXPECT_EQ(model.checks[0].limit, 0.3);
  EXPECT_EQ(model.checks[0].severity, lineage::Severity::kWarn);
  EXPECT_EQ(model.checks[1].name, "one_row");
  EXPECT_EQ(model.checks[2].name, "accepted_values(region)");
  ASSERT_EQ(model.inputs.size(), 1u);
  const auto orders = PartitionSpace::OfTime("ordered_at", Grain::kDay);
  auto changed = PartitionSet::OfTimes(orders.shape(), TimeRuns::Point(10));
  EXPECT_EQ(model.inputs[0].mapping.Affected(changed),
            PartitionSet::OfTimes(model.space.shape(), TimeRuns::Of(10, 17)));
  EXPECT_EQ(model.replay.code, lineage::Replay::kSince);
  EXPECT_EQ(model.replay.code_since_day, 19'753);
  EXPECT_EQ(model.writers, lineage::Writers::kShared);
  EXPECT_TRUE(model.critical);
  EXPECT_TRUE(model.allow_empty);
  EXPECT_THAT(model.tags, ElementsAre("daily", "gold"));
}

TEST_F(ProjectTest, DefaultsHoldWhereNothingIsSaid) {
  EXPECT_EQ(ProblemsOf("name: shop\n"), "");
  Loaded loaded = Load();
  EXPECT_EQ(loaded.project.name_space, "main");
  EXPECT_EQ(loaded.project.catalog, root_ + "/.amend/catalog.db");
  EXPECT_EQ(loaded.project.warehouse, root_ + "/warehouse");
  EXPECT_EQ(loaded.project.limits.memory_bytes, 4'000'000'000);
  EXPECT_EQ(loaded.project.limits.threads, 2);
  EXPECT_TRUE(ModelOf("").space.unpartitioned());
}

TEST_F(ProjectTest, AllProblemsOfAFileComeAtOnce) {
  EXPECT_EQ(ProblemsOf(R"(nmae: shop
namespace: my-shop
namespace: other
warehouse: s3://bucket/lake
limits:
  memory: four
  threads: 010
  cpus: 3
policy: [1]
sources:
  orders:
    kind: rwa
    partition_by: day(orderd_at)
    key: [order_id, custmer]
    columns:
      order_id: BIGNT
      ordered_at: TIMESTAMP
      customer: {typ: VARCHAR}
      at: TIME
      Customer: TEXT
      _amend_row: BIGINT
  empty:
)"),
            R"(amend.yaml: error: amend.yaml has no name (name: my_project) [missing_key]
amend.yaml:1: error: unknown key 'nmae' (did you mean 'name'?) [unknown_key]
amend.yaml:2: error: namespace: 'my-shop' is not a name (a letter or '_', then letters, digits and '_') [bad_name]
amend.yaml:3: error: the key 'namespace' is given twice, first on line 2 (keep one of them) [duplicate_key]
amend.yaml:4: error: warehouse: expected a local path, found 's3://bucket/lake' (absolute, or relative to the project's folder) [bad_path]
amend.yaml:6: error: limits.memory: expected a size, found 'four' (such as 512MB, 4GB or 2GiB) [bad_size]
amend.yaml:7: error: limits.threads: expected a whole number without leading zeros, found '010' (write 10) [wrong_type]
amend.yaml:8: error: unknown key 'cpus' in limits (one of memory, threads) [unknown_key]
amend.yaml:9: error: policy: expected a map of keys, found a list (write 'key: value', one a line) [wrong_type]
amend.yaml:12: error: sources.orders.kind: expected raw, foreign, found 'rwa' (did you mean 'raw'?) [bad_value]
amend.yaml:13: error: sources.orders.partition_by: no column 'orderd_at' (did you mean 'ordered_at'?) [bad_partition]
amend.yaml:14: error: sources.orders.key: no column 'custmer' (did you mean 'customer'?) [unknown_column]
amend.yaml:16: error: sources.orders.columns.order_id: 'BIGNT' is not a column type (did you mean bigint?) [bad_type]
amend.yaml:18: error: unknown key 'typ' in sources.orders.columns.customer (did you mean 'type'?) [unknown_key]
amend.yaml:18: error: sources.orders.columns.customer: a source's column needs its type (e.g. customer: VARCHAR) [missing_key]
amend.yaml:19: error: sources.orders.columns.at: a table cannot hold the type TIME (use VARCHAR) [unsupported]
amend.yaml:20: error: sources.orders.columns: the column 'Customer' is given twice, first on line 18 (names are compared without case) [duplicate_name]
amend.yaml:21: error: sources.orders.columns: names that start with _amend belong to landing (give '_amend_row' another name) [reserved_name]
amend.yaml:22: error: sources.empty: a raw source needs its columns (columns: {id: BIGINT, …}; files that do not fit them are refused) [missing_key]
)");
}

TEST_F(ProjectTest, AllProblemsOfAHeaderComeAtOnceAtLinesOfTheFile) {
  EXPECT_EQ(
      ProblemsOfHeader(R"(partiton_by: day(d)
key: [a, a]
columns:
  a: {type: VARCHAR(10), nullable: true, not_null: true}
  b: {accepted_values: [yes, SE], unique: on, tolerance: 5 %}
checks:
  - rows_against_published: -3
  - uniq: [a]
  - {not_null: [a], unique: [a]}
  - accepted_values: [x]
inputs:
  order: all
  orders: {lookback: 6 dais}
replay: since 2024-02-30
writers: anyone
clock: now
critical: "true"
tags: {a: b}
owner: [x]
)"),
      R"(models/m.sql:2: error: unknown key 'partiton_by' (did you mean 'partition_by'?) [unknown_key]
models/m.sql:3: error: key: 'a' is listed twice [duplicate]
models/m.sql:5: error: columns.a: 'VARCHAR(10)' has a length, which no reader of the table enforces (write VARCHAR) [unsupported]
models/m.sql:5: error: columns.a.not_null contradicts nullable (keep one of them) [bad_value]
models/m.sql:6: error: columns.b.unique: expected true or false, found 'on' [wrong_type]
models/m.sql:6: error: columns.b.accepted_values: 'yes' means different things to different YAML readers (put it in quotes: "yes") [ambiguous]
models/m.sql:6: error: columns.b.tolerance: expected an absolute difference, found a share (such as 0.01, in the column's own unit) [bad_value]
models/m.sql:8: error: checks.rows_against_published: expected a share such as 0.5 or 50 %, found '-3' [wrong_type]
models/m.sql:9: error: unknown key 'uniq' in checks (did you mean 'unique'?) [unknown_key]
models/m.sql:9: error: checks: this one says nothing to check (one of rows_against_published, not_null, unique, accepted_values) [bad_check]
models/m.sql:10: error: checks: this one asks for two things (one of rows_against_published, not_null, unique, accepted_values) [bad_check]
models/m.sql:11: error: checks: accepted_values needs its column (column: region) [missing_key]
models/m.sql:13: error: inputs: 'order' is neither a source nor a model (did you mean 'orders'?) [unknown_table]
models/m.sql:14: error: inputs.orders.lookback: expected a span such as 6 days, found '6 dais' (a whole number of hours, days, weeks, months, quarters or years) [bad_value]
models/m.sql:15: error: replay: expected all, since YYYY-MM-DD, none or ask, found 'since 2024-02-30' (such as: since 2024-01-01) [bad_value]
models/m.sql:16: error: writers: expected exclusive, shared, found 'anyone' [bad_value]
models/m.sql:17: error: clock: expected refuse, found 'now' [bad_value]
models/m.sql:18: error: critical: expected true or false, found the text 'true' [wrong_type]
models/m.sql:19: error: tags: expected a list of texts, found a map [wrong_type]
models/m.sql:20: error: owner: expected text, found a list [wrong_type]
)");
}

TEST_F(ProjectTest, PartitionByIsCheckedAndSaysWhatToWrite) {
  const std::map<std::string, std::string> cases = {
      {"decade(d)",
       "unknown grain 'decade' (one of hour, day, month, year) [bad_partition]"},
      {"dya(d)", "unknown grain 'dya' (did you mean 'day'?) [bad_partition]"},
      {"week(d)",
       "week is not supported here (Iceberg has no such transform: hold the first day of "
       "the "
       "week in a column and use day(column)) [unsupported]"},
      {"\"day(d, 'Asia/Tokyo')\"",
       "a zone is not supported here (hold the local time in a column and use "
       "day(column)) "
       "[unsupported]"},
      {"\"bucket(16, id)\"",
       "bucket is not supported here (compute it as a column of the SELECT and partition "
       "by "
       "that) [unsupported]"},
      {"day()", "'day()' needs one column (day(column)) [bad_partition]"},
      {"day(d",
       "'day(d' is not a column or grain(column) (such as day(ts), month(d) or "
       "region) [bad_partition]"},
      {"hour(d)", "column 'd' is DATE, which has no hours (day(d)) [bad_partition]"},
      {"day(region)",
       "column 'region' is VARCHAR, a grain needs DATE or TIMESTAMP (write 'region' to "
       "partition by its value) [bad_partition]"},
      {"x",
       "partitioning by the value of 'x' needs its declared type (add it under columns, "
       "e.g. x: VARCHAR) [bad_partition]"},
      {"price",
       "column 'price' is DOUBLE, whose values cannot name partitions (BOOLEAN, "
       "INTEGER, BIGINT, DATE, TIMESTAMP and VARCHAR can) [bad_partition]"}};
  for (const auto& [text, problem] : cases) {
    EXPECT_EQ(ProblemsOfHeader("partition_by: " + text +
                               "\ncolumns: {d: DATE, region: TEXT, price: DOUBLE}\n"),
              "models/m.sql:2: error: partition_by: " + problem + "\n");
  }
  EXPECT_THAT(ProblemsOfHeader("partition_by: [day(d), month(d)]\n"),
              HasSubstr("[bad_partition]"))
      << "one time dimension at most";
  EXPECT_THAT(
      ProblemsOfHeader("partition_by: d\ncolumns: {d: DATE}\n"),
      HasSubstr("warning: partition_by: 'd' is a time, cut by its single values"));
}

TEST_F(ProjectTest, DeclaredInputsBecomeMappings) {
  auto affected = [this](const std::string& input) {
    lineage::Model model =
        ModelOf("partition_by: day(d)\ninputs:\n  orders: " + input + "\n");
    if (model.inputs.empty()) return std::string("no input");
    auto space = PartitionSpace::OfTime("d", Grain::kDay);
    auto changed = PartitionSet::OfTimes(space.shape(), TimeRuns::Point(100));
    return partition::Describe(space, model.inputs[0].mapping.Affected(changed));
  };
  EXPECT_EQ(affected("same"), "1970-04-11");
  EXPECT_EQ(affected("{lookback: 6 days}"), "1970-04-11 … 1970-04-17 (7)");
  EXPECT_EQ(affected("{lookahead: 2 days}"), "1970-04-09 … 1970-04-11 (3)");
  EXPECT_EQ(affected("{offset: -1 day}"), "1970-04-12") << "reads the day before";
  EXPECT_EQ(affected("{offset: -1 day, lookback: 1 day}"), "1970-04-12 … 1970-04-13 (2)");
  EXPECT_THAT(affected("{lookback: all}"), HasSubstr("1970-04-11"));
  EXPECT_TRUE(ModelOf("inputs: {orders: all}\n").inputs[0].mapping.is_all());
  EXPECT_EQ(
      ProblemsOfHeader("inputs: {orders: {lookback: 6 days}}\n"),
      "models/m.sql:2: error: inputs.orders: a reach in time needs time on both sides; "
      "'orders' is cut by day(ordered_at), the model by unpartitioned (write orders: "
      "all) [bad_value]\n");
  EXPECT_THAT(ProblemsOfHeader("partition_by: day(d)\ninputs: {orders: {offset: 1 month, "
                               "lookback: 6 days}}\n"),
              HasSubstr("offset and reach must have one unit"));
  EXPECT_THAT(ProblemsOfHeader("inputs: {orders: none}\n"),
              HasSubstr("expected all, same or a map, found 'none'"));
}

TEST_F(ProjectTest, NamesOfTablesAreTakenOnce) {
  Write("amend.yaml", std::string(kGoodProject) + "  Orders: {kind: foreign}\n");
  Write("models/a/daily.sql", "SELECT 1 AS a");
  Write("models/b/Daily.sql", "SELECT 1 AS a");
  Write("models/ORDERS.sql", "SELECT 1 AS a");
  Write("models/two words.sql", "SELECT 1 AS a");
  Write("models/_amend_x.sql", "SELECT 1 AS a");
  EXPECT_EQ(
      Lines(Load()),
      R"(amend.yaml:10: error: sources: 'Orders' and 'orders' of line 3 are one name in SQL (names are compared without case) [duplicate_name]
models/ORDERS.sql: error: the name 'ORDERS' is taken by the source on line 3 of amend.yaml (rename one of the two; names are compared without case) [duplicate_name]
models/_amend_x.sql: error: '_amend_x' cannot name a model (a letter or '_', then letters, digits and '_'; not _amend…) [bad_name]
models/a/daily.sql: error: the name 'daily' is taken by models/b/Daily.sql (rename one of the two; names are compared without case) [duplicate_name]
models/two words.sql: error: 'two words' cannot name a model (a letter or '_', then letters, digits and '_'; not _amend…) [bad_name]
)");
}

TEST_F(ProjectTest, AModelFileIsCutOrSaysWhyNot) {
  EXPECT_EQ(
      ProblemsOfModel("\n/*---\nkey: [a]\n*/\nSELECT 1 AS a"),
      "models/m.sql:2: error: the header that starts here does not end: the comment "
      "ends on line 4 with */ (end it with ---*/) [header_end]\n");
  EXPECT_EQ(
      ProblemsOfModel("/*---\nkey: [a]\n"),
      "models/m.sql:1: error: the header that starts here does not end: it is still "
      "open at the end of the file (end it with ---*/) [header_end]\n");
  EXPECT_EQ(
      ProblemsOfModel("SELECT 1\n/*--- key: [a] ---*/"),
      "models/m.sql:2: error: a header must be the first thing in its file (move it up, "
      "or take the dashes out of this comment) [header_place]\n");
  EXPECT_EQ(ProblemsOfModel("/*---\nkey: [a]\n---*/\n\n-- nothing\n/* at all */ ;\n"),
            "models/m.sql:5: error: the model has no SELECT (write it below the header) "
            "[empty_sql]\n");
  EXPECT_EQ(ProblemsOfModel(""),
            "models/m.sql:1: error: the model has no SELECT (write it below the header) "
            "[empty_sql]\n");
  EXPECT_EQ(
      ProblemsOfModel("SELECT 1\n, '\xE4' AS a"),
      "models/m.sql:2: error: this line has bytes that are not UTF-8 (save the file as "
      "UTF-8) [not_utf8]\n");
  for (const char* bad : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_THAT(ProblemsOfModel(std::string("SELECT '") + bad), HasSubstr("[not_utf8]"));
  }
  EXPECT_EQ(ProblemsOfModel("\xEF\xBB\xBF/*--- owner: Zoë ---*/ SELECT '漢字 𝄞' AS a"),
            "");
  EXPECT_EQ(Load().project.models[0].owner, "Zoë");
  EXPECT_EQ(Load().project.models[0].sql, "SELECT '漢字 𝄞' AS a");
}

TEST_F(ProjectTest, YamlTrapsAreReportedNotObeyed) {
  EXPECT_THAT(ProblemsOf("name: a\nname: b\n"), HasSubstr(":2: error: the key 'name'"));
  EXPECT_THAT(ProblemsOf("name: no\n"), HasSubstr("[ambiguous]"));
  EXPECT_THAT(ProblemsOf("name: 12:30\n"), HasSubstr("[ambiguous]"));
  EXPECT_THAT(ProblemsOf("name: !!str a\n"), HasSubstr("[yaml_tag]"));
  EXPECT_THAT(ProblemsOf("name: a\n---\nname: b\n"), HasSubstr("second YAML document"));
  EXPECT_THAT(ProblemsOf("name: a\n\x04\nnonsense: b\n"), HasSubstr("control character"));
  EXPECT_THAT(ProblemsOf("name: [a\n"), HasSubstr("[yaml_syntax]"));
  EXPECT_THAT(ProblemsOf("name: a\n\tlimits: b\n"), HasSubstr("[yaml_syntax]"));
  EXPECT_THAT(ProblemsOf("? [a]\n: b\n"), HasSubstr("a key must be a word"));
  EXPECT_THAT(ProblemsOf("- a\n"), HasSubstr("expected a map of keys, found a list"));
  EXPECT_THAT(ProblemsOf("name: \"a\"\nlimits: {threads: '2'}\n"),
              HasSubstr("expected a whole number, found the text '2'"));
  EXPECT_THAT(ProblemsOf("name:\n"), HasSubstr("name: expected text, found nothing"));
  EXPECT_THAT(ProblemsOf(""), HasSubstr("amend.yaml has no name"));
  EXPECT_EQ(ProblemsOf("name: &n shop\nnamespace: *n\n"), "") << "a plain alias is fine";
}

TEST_F(ProjectTest, HostileYamlIsBounded) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string last(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) bomb += "*" + last + ", ";
    bomb += "]\n";
  }
  EXPECT_THAT(ProblemsOf(bomb), HasSubstr("[yaml_size]"));
  EXPECT_THAT(ProblemsOf("a: &a [*a]\n"), HasSubstr("[yaml_alias]"));
  EXPECT_THAT(ProblemsOf("a: " + std::string(10'000, '[')), HasSubstr("[yaml_depth]"));
  EXPECT_THAT(ProblemsOf(std::string(4'100'000, 'a')), HasSubstr("[yaml_size]"));
  std::string deep = "a: &a [x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    deep += std::string(1, c) + ": &" + c + " [[*" + static_cast<char>(c - 1) + "]]\n";
  }
  EXPECT_THAT(ProblemsOf(deep), HasSubstr("[yaml_depth]"));
}

TEST(ProjectText, EveryCutAndFlipIsReadWithoutHarm) {
  const std::string header =
      "/*---\nkey: [a]\ncolumns: {a: {type: DATE}}\n---*/ SELECT 1";
  for (const std::string& text : {std::string(kGoodProject), header}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
      for (const std::string& damaged : {text.substr(0, at), flipped}) {
        std::vector<Problem> problems;
        Report report("f", &problems);
        ReadProjectFile(damaged, "/p", report);
        ReadModelFile("m", damaged, report);
      }
    }
  }
}

TEST_F(ProjectTest, LinksCannotLeadInCirclesOrHideAModel) {
  Write("amend.yaml", kGoodProject);
  Write("models/a/m.sql", "SELECT 1 AS a");
  Write("other.sql", "SELECT 1 AS a");
  std::filesystem::create_symlink("..", root_ + "/models/a/loop");
  std::filesystem::create_symlink("gone.sql", root_ + "/models/lost.sql");
  std::filesystem::create_symlink("../other.sql", root_ + "/models/linked.sql");
  Loaded loaded = Load();
  EXPECT_THAT(Lines(loaded),
              HasSubstr("models/a/loop: error: links to folders are not followed"));
  EXPECT_THAT(Lines(loaded), HasSubstr("models/lost.sql: error: "));
  EXPECT_EQ(loaded.problems.size(), 2u) << Lines(loaded);
  EXPECT_EQ(loaded.project.models.size(), 2u);
}

TEST_F(ProjectTest, AFolderWithoutAProjectSaysSo) {
  EXPECT_EQ(Lines(Load()), "amend.yaml: error: there is no amend.yaml in " + root_ +
                               " (amend init makes a project; -C names its folder) "
                               "[no_project]\n");
}

TEST_F(ProjectTest, TheContractMeetsTheColumnsThatTheSelectGives) {
  lineage::Model model = ModelOf(
      "partition_by: hour(d)\nkey: [idd]\ncolumns:\n  id: BIGINT\n  "
      "nmae: {tolerance: 1}\n  name: {tolerance: 1}\nchecks: [{unique: Nothing}]\n");
  lineage::BoundModel bound;
  for (const auto& [name, type] :
       {std::pair{"ID", "INTEGER"}, {"name", "VARCHAR"}, {"D", "DATE"}}) {
    bound.columns.emplace_back().name = name;
    bound.columns.back().type = type;
  }
  Loaded loaded;
  loaded.problems = ContractProblems(model, bound);
  EXPECT_EQ(
      Lines(loaded),
      R"(models/m.sql:5: error: columns.id: declared BIGINT, the SELECT gives INTEGER (CAST(… AS BIGINT) AS "id", or change the contract) [type_mismatch]
models/m.sql:6: error: columns: the SELECT gives no column 'nmae' (did you mean 'name'?) [unknown_column]
models/m.sql:7: error: columns.name: a tolerance needs a number, this is VARCHAR [bad_value]
models/m.sql:1: error: key: the SELECT gives no column 'idd' (did you mean 'ID'?) [unknown_column]
models/m.sql:8: error: checks: the SELECT gives no column 'Nothing' (one of ID, name, D) [unknown_column]
models/m.sql:1: error: partition_by: hour(d) needs a time, 'D' is DATE (cast it to DATE or TIMESTAMP in the SELECT) [bad_partition]
)");
}

TEST_F(ProjectTest, InitWritesAProjectThatLoads) {
  auto done = InitProject(Env::Real(), root_ + "/new/shop", "shop");
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_THAT(done->files,
              ElementsAre(".gitignore", "data/orders.csv", "models/daily_sales.sql",
                          "models/monthly_sales.sql", "amend.yaml"));
  Loaded loaded = LoadProject(Env::Real(), root_ + "/new/shop");
  EXPECT_EQ(Lines(loaded), "");
  EXPECT_EQ(loaded.project.name, "shop");
  EXPECT_EQ(loaded.project.sources.at(0).name, done->source);
  EXPECT_EQ(loaded.project.models.size(), 2u);
}

TEST_F(ProjectTest, InitOverwritesNothingAndGoesOnAfterAKill) {
  ASSERT_FALSE(InitProject(Env::Real(), root_, "my shop"));
  EXPECT_FALSE(Env::Real().Exists(root_ + "/models"));

  Write("models/daily_sales.sql", "SELECT 42 AS mine");
  auto done = InitProject(Env::Real(), root_, "shop");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), StatusCode::kInvalid);
  EXPECT_THAT(done.error().ToString(), HasSubstr("models/daily_sales.sql"));
  EXPECT_FALSE(Env::Real().Exists(root_ + "/data"))
      << "nothing is written before a refusal";

  // A killed init: some files are there, amend.yaml is not.
  std::filesystem::remove(root_ + "/models/daily_sales.sql");
  Write(".gitignore", "*.tmp\n");
  ASSERT_TRUE(InitProject(Env::Real(), root_, "shop"));
  std::filesystem::remove(root_ + "/amend.yaml");
  std::filesystem::remove(root_ + "/models/monthly_sales.sql");
  done = InitProject(Env::Real(), root_, "shop");
  ASSERT_TRUE(done);
  EXPECT_THAT(done->files, ElementsAre("models/monthly_sales.sql", "amend.yaml"));
  EXPECT_EQ(*Env::Real().ReadFile(root_ + "/.gitignore"), "*.tmp\n");

  done = InitProject(Env::Real(), root_, "shop");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("a project already"));
}

TEST_F(ProjectTest, TheFlightsExampleHasNoProblems) {
  const char* source = std::getenv("AMEND_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "ctest sets it";
  Loaded loaded = LoadProject(Env::Real(), std::string(source) + "/examples/flights");
  EXPECT_EQ(Lines(loaded), "");
  EXPECT_EQ(loaded.project.models.size(), 6u);
  EXPECT_EQ(loaded.project.sources.size(), 2u);
}

TEST(Problem, IsOneJsonObjectAsTheContractHasIt) {
  const Problem problem{ProblemSeverity::kWarning, "code", "f", 3, "text", "hint"};
  EXPECT_EQ(ProblemToJson(problem).dump(),
            R"({"severity":"warning","code":"code","file":"f","line":3,"text":"text",)"
            R"("hint":"hint"})");
  const Problem from =
      ProblemFrom(Invalid("no such column").At("models/m.sql", 7).Hint("look again"));
  EXPECT_EQ(from, (Problem{ProblemSeverity::kError, "invalid", "models/m.sql", 7,
                           "no such column", "look again"}));
}

}  // namespace
}  // namespace amend::project
