#include "check/judge.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::check {
namespace {

using lineage::CheckKind;
using lineage::CheckSpec;
using lineage::ColumnContract;
using lineage::Model;
using partition::Grain;
using partition::Partition;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::TimeRuns;
using state::Outcome;
using state::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kJan1 = 19'723;  // 2024-01-01

/// One staged task over January days: rows by day, everything else good.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    model_.name = "sales";
    model_.space = PartitionSpace::OfTime("d", Grain::kDay);
    model_.key = {"k", "j"};
    write_set_.name = "w1";
    write_set_.model = model_.name;
    write_set_.partitions = PartitionSet(model_.space.shape());
    measures_.columns = {{"d", "DATE", true}, {"amount", "DOUBLE", true}};
  }

  static Partition Day(int day) { return {kJan1 + day - 1, {}}; }

  PartitionMeasures& Stage(int day, std::int64_t rows) {
    write_set_.partitions =
        write_set_.partitions.Union(PartitionSet::Of(model_.space.shape(), Day(day)));
    write_set_.staged.push_back({Day(day), {"rows 1", rows, 1, 2}, std::nullopt});
    if (rows == 0) return spare_;
    PartitionMeasures measures;
    measures.partition = Day(day);
    measures.rows = rows;
    const Needed needed = MeasuresFor(QuestionsOf(model_));
    for (const std::string& column : needed.null_counts) measures.nulls[column] = 0;
    for (const auto& columns : needed.distinct) measures.duplicates[columns] = {};
    for (const auto& [name, accepted] : needed.accepted) measures.not_accepted[name] = {};
    measures_.partitions.push_back(std::move(measures));
    return measures_.partitions.back();
  }

  std::vector<Verdict> Run() { return Judge(model_, write_set_, measures_, published_); }

  /// "check partition outcome: text" of every verdict that is not pass.
  std::vector<std::string> NotPassed() {
    std::vector<std::string> lines;
    for (const Verdict& verdict : Run()) {
      if (verdict.outcome == Outcome::kPass) continue;
      lines.push_back(verdict.check + " " + verdict.partition + " " +
                      std::string(OutcomeName(verdict.outcome)) + ": " + verdict.text);
    }
    return lines;
  }

  Verdict Find(const std::string& check) {
    for (const Verdict& verdict : Run()) {
      if (verdict.check == check) return verdict;
    }
    ADD_FAILURE() << "no verdict of " << check;
    return {};
  }

  Model model_;
  state::WriteSet write_set_;
  Measures measures_;
  PublishedRows published_;
  PartitionMeasures spare_;
};

TEST_F(JudgeTest, GoodDataPassesWithOneVerdictAQuestion) {
  for (int day = 1; day <= 14; ++day) {
    Stage(day, 100);
    published_[Day(day)] = 120;
  }
  std::vector<Verdict> verdicts = Run();
  EXPECT_THAT(NotPassed(), IsEmpty());
  std::vector<std::string> checks;
  for (const Verdict& verdict : verdicts) {
    checks.push_back(verdict.check);
    EXPECT_EQ(verdict.partition, "all");
    EXPECT_EQ(verdict.write_set, "w1");
    EXPECT_TRUE(verdict.blocks);
  }
  EXPECT_THAT(checks, ElementsAre("within_plan", "schema", "not_empty",
                                  "rows_against_published", "key"));
  EXPECT_EQ(Find("key").text, "14 partitions");
  EXPECT_THAT(Objections(model_, "w1", verdicts), IsEmpty());
}

TEST_F(JudgeTest, B41AndB138RowsOutsideThePlanAreNamedWithCountAndSamples) {
  Stage(5, 100);
  measures_.out_of_plan = {{Day(6), 1, {Json{{"d", "2024-01-06"}, {"k", 7}}}}};
  EXPECT_THAT(
      NotPassed(),
      ElementsAre("within_plan 2024-01-06 fail: 1 row falls into this partition, "
                  "which was not planned",
                  "rows_against_published all not_run: 1 partition, not asked: none "
                  "published"));
  Verdict verdict = Find("within_plan");
  EXPECT_EQ(verdict.offending_rows, 1);
  EXPECT_EQ(verdict.samples.size(), 1u);
  EXPECT_THAT(Objections(model_, "w1", Run()),
              ElementsAre(Objection{"within_plan", "2024-01-06", verdict.text}));
}

TEST_F(JudgeTest, B35AFileOfTheNullPartitionDoesNotSlipThrough) {
  Stage(1, 0);
  state::StagedFile file;
  file.partition = Partition{std::nullopt, {}};
  file.rows = 3;
  write_set_.files = {file};
  EXPECT_THAT(
      NotPassed(),
      ElementsAre("within_plan null fail: 3 rows fall into this partition, which was "
                  "not planned",
                  "not_empty 2024-01-01 fail: the SELECT gives no rows; allow_empty: "
                  "true in the header lets it through",
                  "rows_against_published all not_run: 1 partition, not asked: no rows",
                  "key all not_run: 1 partition, not asked: no rows"));
}

TEST_F(JudgeTest, B85NoRowsIsNeverAPassedCheck) {
  Stage(1, 10'000);
  Stage(2, 0);
  published_ = {{Day(1), 10'000}, {Day(2), 10'000}};
  EXPECT_THAT(
      NotPassed(),
      ElementsAre(
          "not_empty 2024-01-02 fail: the SELECT gives no rows where 10,000 rows are "
          "published (-100 %); allow_empty: true in the header lets it through",
          "rows_against_published all others not_run: 1 partition, not asked: no rows",
          "key all others not_run: 1 partition, not asked: no rows"));
  EXPECT_EQ(Objections(model_, "w1", Run()).size(), 1u);
}

TEST_F(JudgeTest, B40EmptyIsPublishedOnlyWhenAllowed) {
  Stage(7, 0);
  published_ = {{Day(7), 1}};
  EXPECT_THAT(
      Objections(model_, "w1", Run()),
      ElementsAre(Objection{"not_empty", "2024-01-07",
                            "the SELECT gives no rows where 1 row is published (-100 "
                            "%); allow_empty: true in the header lets it through"}));
  model_.allow_empty = true;
  EXPECT_THAT(Objections(model_, "w1", Run()), IsEmpty());
  EXPECT_EQ(Find("not_empty").text, "1 partition, 1 of them empty as allowed");
  EXPECT_EQ(Find("not_empty").check_text, "planned partitions may be empty");
  EXPECT_EQ(Find("rows_against_published").outcome, Outcome::kNotRun);
}

TEST_F(JudgeTest, B90ReplacedEmptyAndMissingAreThreeStates) {
  for (int day : {1, 2, 5}) Stage(day, 10);
  Stage(4, 0);
  write_set_.partitions =
      PartitionSet::OfTimes(model_.space.shape(), TimeRuns::Of(kJan1, kJan1 + 5));
  std::vector<std::string> lines;
  for (const Verdict& verdict : Run()) {
    if (verdict.check == "not_empty") {
      lines.push_back(verdict.partition + " " +
                      std::string(OutcomeName(verdict.outcome)));
    }
  }
  EXPECT_THAT(lines,
              ElementsAre("2024-01-04 fail", "all others pass", "2024-01-03 error"));
  EXPECT_EQ(Objections(model_, "w1", Run()).size(), 2u);
}

TEST_F(JudgeTest, RowsAgainstPublishedHasALimitOnBothSides) {
  const std::pair<std::int64_t, bool> cases[] = {{50, true},   {150, true}, {49, false},
                                                 {151, false}, {1, false},  {100, true}};
  for (const auto& [rows, good] : cases) {
    write_set_.staged.clear();
    measures_.partitions.clear();
    Stage(1, rows);
    published_ = {{Day(1), 100}};
    EXPECT_EQ(NotPassed().empty(), good) << rows;
  }
  CheckSpec own;
  own.kind = CheckKind::kRowsAgainstPublished;
  own.limit = 0.005;
  own.severity = lineage::Severity::kWarn;
  model_.checks = {own};
  write_set_.staged.clear();
  measures_.partitions.clear();
  Stage(1, 101);
  Verdict verdict = Find("rows_against_published");
  EXPECT_EQ(verdict.outcome, Outcome::kFail);
  EXPECT_EQ(verdict.text, "101 rows where 100 are published: +1.0 %, at most 0.5 %");
  EXPECT_EQ(verdict.check_text, "rows within 0.5 % of the published ones");
  EXPECT_EQ(verdict.offending_rows, 1);
  EXPECT_FALSE(verdict.blocks);
  EXPECT_THAT(Objections(model_, "w1", Run()), IsEmpty()) << "a warning does not stop";
}

TEST_F(JudgeTest, B46KeysAreComparedNullSafe) {
  PartitionMeasures& measures = Stage(1, 3);
  measures.duplicates[{"k", "j"}] = {1, {Json{{"k", 1}, {"j", nullptr}, {"rows", 3}}}};
  Verdict verdict = Find("key");
  EXPECT_EQ(verdict.outcome, Outcome::kFail);
  EXPECT_EQ(verdict.text, "1 key occurs more than once: (k, j)");
  EXPECT_EQ(verdict.check_text,
            "(k, j) occurs once in each partition, NULL being a value");
  EXPECT_EQ(verdict.samples.size(), 1u);
  EXPECT_EQ(verdict.partition, "2024-01-01");
}

TEST_F(JudgeTest, TheContractOfEachColumnIsAQuestion) {
  ColumnContract amount;
  amount.name = "amount";
  amount.type = "DOUBLE";
  amount.not_null = true;
  ColumnContract region;
  region.name = "region";
  region.unique = true;
  region.accepted_values = {"EU", "it's"};
  model_.contracts = {amount, region};
  const Needed needed = MeasuresFor(QuestionsOf(model_));
  EXPECT_THAT(needed.null_counts, ElementsAre("amount"));
  EXPECT_THAT(needed.distinct, ElementsAre(ElementsAre("k", "j"), ElementsAre("region")));
  EXPECT_EQ(needed.accepted.at("accepted_values(region)"),
            (Accepted{"region", {"EU", "it's"}}));

  PartitionMeasures& measures = Stage(1, 100);
  measures.nulls["amount"] = 5;
  measures.duplicates[{"region"}] = {2, {}};
  measures.not_accepted["accepted_values(region)"] = {1, {Json{{"region", "XX"}}}};
  EXPECT_THAT(
      NotPassed(),
      UnorderedElementsAre(
          "schema all fail: region is missing",
          "rows_against_published all not_run: 1 partition, not asked: none published",
          "not_null(amount) 2024-01-01 fail: amount is NULL in 5 rows of 100",
          "unique(region) 2024-01-01 fail: 2 keys occur more than once: (region)",
          "accepted_values(region) 2024-01-01 fail: 1 row has another value in region"));
  EXPECT_EQ(Find("accepted_values(region)").check_text,
            "region is NULL or one of 'EU', 'it''s'");
}

TEST_F(JudgeTest, B88ColumnsAreJudgedByNameNotByPlace) {
  ColumnContract amount;
  amount.name = "Amount";
  amount.type = "DOUBLE";
  model_.contracts = {amount};
  Stage(1, 1);
  std::reverse(measures_.columns.begin(), measures_.columns.end());
  EXPECT_EQ(Find("schema").outcome, Outcome::kPass);
  measures_.columns = {{"d", "DOUBLE", true}, {"amount", "DATE", true}};
  EXPECT_EQ(Find("schema").text, "Amount is DATE, not DOUBLE");
}

TEST_F(JudgeTest, AMeasureThatWasNotTakenIsAnErrorNotAPass) {
  PartitionMeasures& measures = Stage(1, 10);
  measures.duplicates.clear();
  EXPECT_EQ(Find("key").outcome, Outcome::kError);
  EXPECT_EQ(Objections(model_, "w1", Run()).size(), 1u);
  measures.rows = 9;
  EXPECT_EQ(Find("key").text, "measured 9 rows, the write set has 10");
  measures_.partitions.clear();
  EXPECT_EQ(Find("key").outcome, Outcome::kError);
  measures_.columns.clear();
  EXPECT_EQ(Find("schema").outcome, Outcome::kError);
}

TEST_F(JudgeTest, B87AVerdictBelongsToOneWriteSet) {
  Stage(1, 10);
  const std::vector<Verdict> verdicts = Run();
  EXPECT_THAT(Objections(model_, "w1", verdicts), IsEmpty());
  std::vector<Objection> objections = Objections(model_, "w2", verdicts);
  EXPECT_EQ(objections.size(), QuestionsOf(model_).size());
  EXPECT_EQ(objections[0].text, "never asked of this write set");
  EXPECT_THAT(Objections(model_, "w1", {}), testing::Not(IsEmpty()))
      << "absent is never pass";
}

TEST_F(JudgeTest, B84AnEditedCheckVoidsItsVerdicts) {
  Stage(1, 10);
  const std::vector<Verdict> verdicts = Run();
  CheckSpec own;
  own.kind = CheckKind::kRowsAgainstPublished;
  own.limit = 0.1;
  model_.checks = {own};
  EXPECT_THAT(Objections(model_, "w1", verdicts),
              ElementsAre(Objection{"rows_against_published", "all",
                                    "the check was changed after it was asked"}));
}

TEST_F(JudgeTest, KeptVerdictsRestOnTheirQuestionsAndOnWhatWasPublished) {
  Stage(5, 0);
  published_[Day(5)] = 10;
  Grounds before = GroundsOf(model_, write_set_, published_);
  published_[Day(6)] = 99;  // of no partition of the write set
  EXPECT_EQ(GroundsOf(model_, write_set_, published_), before);
  published_[Day(5)] = 11;
  EXPECT_NE(GroundsOf(model_, write_set_, published_).published, before.published);
  published_.erase(Day(5));
  EXPECT_NE(GroundsOf(model_, write_set_, published_).published, before.published);
  model_.allow_empty = true;
  EXPECT_NE(GroundsOf(model_, write_set_, published_).questions, before.questions);
}

TEST_F(JudgeTest, OwnChecksJoinOrReplace) {
  CheckSpec unique;
  unique.kind = CheckKind::kUnique;
  unique.columns = {"a", "b"};
  unique.name = "pairs";
  CheckSpec not_null;
  not_null.kind = CheckKind::kNotNull;
  not_null.columns = {"a", "b"};
  not_null.name = "not_null(a, b)";
  not_null.severity = lineage::Severity::kWarn;
  CheckSpec accepted;
  accepted.kind = CheckKind::kAcceptedValues;
  accepted.columns = {"a"};
  accepted.values = {"x"};
  model_.checks = {unique, not_null, accepted};
  std::vector<std::string> names;
  for (const Question& question : QuestionsOf(model_)) {
    names.push_back(question.name + (question.blocks ? "" : "?"));
  }
  EXPECT_THAT(names, ElementsAre("within_plan", "schema", "not_empty",
                                 "rows_against_published", "key", "pairs", "not_null(a)?",
                                 "not_null(b)?", "accepted_values(a)"));
}

}  // namespace
}  // namespace amend::check
