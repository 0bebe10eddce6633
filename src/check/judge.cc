#include "check/judge.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::check {
namespace {

using lineage::Model;
using partition::Partition;
using state::Outcome;
using state::Verdict;
using Kind = Question::Kind;

/// What one question says of one partition.
struct Answer {
  Outcome outcome = Outcome::kPass;
  std::string text;
  std::int64_t offending = 0;
  std::vector<Json> samples;
};

Answer NotMeasured(const std::string& what) {
  return {Outcome::kError, what + " was not measured", 0, {}};
}

/// "1 row is", "5 rows are".
std::string Counted(std::int64_t count, const std::string& one, const std::string& many) {
  return GroupDigits(count) + " " + (count == 1 ? one : many);
}

class Judging {
 public:
  Judging(const Model& model, const state::WriteSet& write_set, const Measures& measures,
          const PublishedRows& published)
      : model_(model), write_set_(write_set), measures_(measures), published_(published) {
    for (const PartitionMeasures& m : measures.partitions) measured_[m.partition] = &m;
  }

  std::vector<Verdict> Run() {
    for (const Question& question : QuestionsOf(model_)) {
      if (question.kind == Kind::kWithinPlan) {
        AnswerWithinPlan(question);
      } else if (question.kind == Kind::kSchema) {
        AnswerSchema(question);
      } else {
        AnswerByPartition(question);
      }
    }
    return std::move(verdicts_);
  }

 private:
  void Say(const Question& question, std::string partition, Answer answer) {
    Verdict verdict;
    verdict.model = model_.name;
    verdict.check = question.name;
    verdict.partition = std::move(partition);
    verdict.write_set = write_set_.name;
    verdict.check_text = question.text;
    verdict.outcome = answer.outcome;
    verdict.blocks = question.blocks;
    verdict.offending_rows = answer.offending;
    verdict.text = std::move(answer.text);
    verdict.samples = std::move(answer.samples);
    verdicts_.push_back(std::move(verdict));
  }

  std::string Name(const Partition& point) const { return model_.space.Format(point); }

  void AnswerWithinPlan(const Question& question) {
    bool failed = false;
    auto fail = [&](const Partition& point, std::int64_t rows,
                    std::vector<Json> samples) {
      failed = true;
      Say(question, Name(point),
          {Outcome::kFail,
           Counted(rows, "row falls", "rows fall") +
               " into this partition, which was not planned",
           rows, std::move(samples)});
    };
    for (const OutOfPlan& out : measures_.out_of_plan) {
      fail(out.partition, out.rows, out.samples);
    }
    for (const state::StagedFile& file : write_set_.files) {
      if (!write_set_.partitions.Contains(file.partition)) {
        fail(file.partition, file.rows, {});
      }
    }
    if (!failed)
      Say(question, kAllPartitions, {Outcome::kPass, "every row is planned", 0, {}});
  }

  void AnswerSchema(const Question& question) {
    if (measures_.columns.empty()) {
      Say(question, kAllPartitions, NotMeasured("the schema of the files"));
      return;
    }
    std::vector<std::string> faults;
    for (const lineage::ColumnContract& contract : model_.contracts) {
      auto column = std::find_if(
          measures_.columns.begin(), measures_.columns.end(),
          [&](const auto& c) { return ToLower(c.name) == ToLower(contract.name); });
      if (column == measures_.columns.end()) {
        faults.push_back(contract.name + " is missing");
      } else if (contract.type && *contract.type != column->type) {
        faults.push_back(contract.name + " is " + column->type + ", not " +
                         *contract.type);
      }
    }
    const bool ok = faults.empty();
    Say(question, kAllPartitions,
        {ok ? Outcome::kPass : Outcome::kFail,
         ok ? "columns are as the contract says" : Join(faults, "; "),
         0,
         {}});
  }

  /// Asks each partition that the task was to produce, also those without rows.
  void AnswerByPartition(const Question& question) {
    std::int64_t passed = 0, not_run = 0, single = 0, empty = 0;
    std::string why_not_run;
    for (const state::StagedPartition& staged : write_set_.staged) {
      Answer answer = AnswerFor(question, staged);
      if (answer.outcome == Outcome::kPass) {
        ++passed;
        empty += staged.digest.rows == 0 ? 1 : 0;
      } else if (answer.outcome == Outcome::kNotRun) {
        ++not_run;
        why_not_run = why_not_run.empty() || why_not_run == answer.text
                          ? answer.text
                          : "no rows, or none published";
      } else {
        ++single;
        Say(question, Name(staged.partition), std::move(answer));
      }
    }
    auto together = [&](std::int64_t count, Outcome outcome, const std::string& text) {
      if (count == 0) return;
      const bool all = count == passed + not_run + single;
      Say(question, all ? kAllPartitions : kOtherPartitions,
          {outcome, Counted(count, "partition", "partitions") + text, 0, {}});
    };
    together(passed, Outcome::kPass,
             empty == 0 ? "" : ", " + GroupDigits(empty) + " of them empty as allowed");
    together(not_run, Outcome::kNotRun, ", not asked: " + why_not_run);
    SayOfUnstaged(question);
  }

  /// A planned partition of which the write set says nothing is not an empty one: it was
  /// never computed.
  void SayOfUnstaged(const Question& question) {
    if (question.kind != Kind::kNotEmpty) return;
    std::vector<Partition> points;
    for (const state::StagedPartition& staged : write_set_.staged) {
      points.push_back(staged.partition);
    }
    const auto staged =
        partition::PartitionSet::Of(write_set_.partitions.shape(), points);
    const auto missing = write_set_.partitions.Difference(staged);
    if (missing.empty()) return;
    Say(question, partition::Describe(model_.space, missing),
        {Outcome::kError, "planned, and nothing says that it was computed", 0, {}});
  }

  Answer AnswerFor(const Question& question, const state::StagedPartition& staged) const {
    const std::int64_t rows = staged.digest.rows;
    if (question.kind == Kind::kNotEmpty) return AnswerNotEmpty(staged);
    if (rows == 0) return {Outcome::kNotRun, "no rows", 0, {}};
    if (question.kind == Kind::kRows) return AnswerRows(question, staged);
    auto it = measured_.find(staged.partition);
    if (it == measured_.end()) return NotMeasured("the partition");
    const PartitionMeasures& measures = *it->second;
    if (measures.rows != rows) {
      return {Outcome::kError,
              "measured " + GroupDigits(measures.rows) + " rows, the write set has " +
                  GroupDigits(rows),
              0,
              {}};
    }
    return AnswerColumns(question, measures);
  }

  std::int64_t PublishedOf(const Partition& point) const {
    auto it = published_.find(point);
    return it == published_.end() ? 0 : it->second;
  }

  Answer AnswerNotEmpty(const state::StagedPartition& staged) const {
    if (staged.digest.rows > 0) return {Outcome::kPass, "", 0, {}};
    if (AllowsEmpty(model_)) return {Outcome::kPass, "", 0, {}};
    const std::int64_t published = PublishedOf(staged.partition);
    std::string text = published == 0 ? "the SELECT gives no rows"
                                      : "the SELECT gives no rows where " +
                                            Counted(published, "row is", "rows are") +
                                            " published (-100 %)";
    return {Outcome::kFail,
            text + "; allow_empty: true in the header lets it through",
            published,
            {}};
  }

  Answer AnswerRows(const Question& question,
                    const state::StagedPartition& staged) const {
    const std::int64_t published = PublishedOf(staged.partition);
    if (published == 0) return {Outcome::kNotRun, "none published", 0, {}};
    const std::int64_t difference = staged.digest.rows - published;
    const double share = static_cast<double>(difference) / static_cast<double>(published);
    if (std::abs(share) <= question.limit) return {Outcome::kPass, "", 0, {}};
    return {Outcome::kFail,
            fmt::format("{} rows where {} are published: {:+.1f} %, at most {:g} %",
                        GroupDigits(staged.digest.rows), GroupDigits(published),
                        share * 100, question.limit * 100),
            std::abs(difference),
            {}};
  }

  static Answer AnswerColumns(const Question& question,
                              const PartitionMeasures& measures) {
    const std::string columns = Join(question.columns, ", ");
    if (question.kind == Kind::kNotNull) {
      auto it = measures.nulls.find(question.columns[0]);
      if (it == measures.nulls.end()) return NotMeasured("NULLs of " + columns);
      if (it->second == 0) return {Outcome::kPass, "", 0, {}};
      return {Outcome::kFail,
              columns + " is NULL in " + Counted(it->second, "row", "rows") + " of " +
                  GroupDigits(measures.rows),
              it->second,
              {}};
    }
    if (question.kind == Kind::kUnique) {
      auto it = measures.duplicates.find(question.columns);
      if (it == measures.duplicates.end()) return NotMeasured("duplicates of " + columns);
      return FromOffence(it->second, "key occurs", "keys occur",
                         " more than once: (" + columns + ")");
    }
    auto it = measures.not_accepted.find(question.name);
    if (it == measures.not_accepted.end()) return NotMeasured("values of " + columns);
    return FromOffence(it->second, "row has", "rows have",
                       " another value in " + columns);
  }

  static Answer FromOffence(const Offence& offence, const std::string& one,
                            const std::string& many, const std::string& what) {
    if (offence.count == 0) return {Outcome::kPass, "", 0, {}};
    return {Outcome::kFail, Counted(offence.count, one, many) + what, offence.count,
            offence.samples};
  }

  const Model& model_;
  const state::WriteSet& write_set_;
  const Measures& measures_;
  const PublishedRows& published_;
  std::map<Partition, const PartitionMeasures*> measured_;
  std::vector<Verdict> verdicts_;
};

bool Stands(Outcome outcome) {
  return outcome == Outcome::kPass || outcome == Outcome::kNotRun;
}

}  // namespace

std::vector<Verdict> Judge(const Model& model, const state::WriteSet& write_set,
                           const Measures& measures, const PublishedRows& published) {
  return Judging(model, write_set, measures, published).Run();
}

Grounds GroundsOf(const lineage::Model& model, const state::WriteSet& write_set,
                  const PublishedRows& published) {
  Json questions = Json::array();
  for (const Question& question : QuestionsOf(model)) {
    questions.push_back(Json::array({question.name, question.text, question.blocks}));
  }
  Json rows = Json::array();
  for (const state::StagedPartition& staged : write_set.staged) {
    auto known = published.find(staged.partition);
    rows.push_back(known == published.end() ? Json() : Json(known->second));
  }
  return {Sha256Hex(questions.dump()), Sha256Hex(rows.dump())};
}

std::vector<Objection> Objections(const Model& model, const std::string& write_set,
                                  const std::vector<Verdict>& verdicts) {
  std::vector<Objection> objections;
  for (const Question& question : QuestionsOf(model)) {
    bool answered = false;
    bool void_answer = false;
    for (const Verdict& verdict : verdicts) {
      if (verdict.model != model.name || verdict.write_set != write_set ||
          verdict.check != question.name) {
        continue;
      }
      if (verdict.check_text != question.text) {
        void_answer = true;
        continue;
      }
      answered = true;
      if (question.blocks && !Stands(verdict.outcome)) {
        objections.push_back({question.name, verdict.partition, verdict.text});
      }
    }
    if (answered || !question.blocks) continue;
    objections.push_back({question.name, kAllPartitions,
                          void_answer ? "the check was changed after it was asked"
                                      : "never asked of this write set"});
  }
  return objections;
}

}  // namespace amend::check
