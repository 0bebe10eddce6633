#include "check/checks.h"

#include <algorithm>

#include "base/text.h"
#include "fmt/format.h"

namespace amend::check {
namespace {

using lineage::CheckKind;
using lineage::CheckSpec;
using lineage::Model;
using Kind = Question::Kind;

/// Adds a question, or replaces the one of its name where it stands.
void Put(Question question, std::vector<Question>* questions) {
  auto it =
      std::find_if(questions->begin(), questions->end(),
                   [&question](const Question& q) { return q.name == question.name; });
  if (it == questions->end()) {
    questions->push_back(std::move(question));
  } else {
    *it = std::move(question);
  }
}

Question Rows(double limit) {
  Question question;
  question.kind = Kind::kRows;
  question.name = kCheckRows;
  question.text = fmt::format("rows within {:g} % of the published ones", limit * 100);
  question.limit = limit;
  return question;
}

Question Unique(std::vector<std::string> columns) {
  Question question;
  question.kind = Kind::kUnique;
  question.name = "unique(" + Join(columns, ", ") + ")";
  question.text =
      "(" + Join(columns, ", ") + ") occurs once in each partition, NULL being a value";
  question.columns = std::move(columns);
  return question;
}

Question NotNull(const std::string& column) {
  Question question;
  question.kind = Kind::kNotNull;
  question.name = "not_null(" + column + ")";
  question.text = column + " is never NULL";
  question.columns = {column};
  return question;
}

Question AcceptedValues(const std::string& column, std::vector<std::string> values) {
  Question question;
  question.kind = Kind::kAcceptedValues;
  question.name = "accepted_values(" + column + ")";
  question.text = column + " is NULL or one of ";
  for (const std::string& value : values) {
    question.text += (&value == &values.front() ? "" : ", ") + SqlLiteral(value);
  }
  question.columns = {column};
  question.values = std::move(values);
  return question;
}

Question BuiltIn(Kind kind, const char* name, std::string text) {
  Question question;
  question.kind = kind;
  question.name = name;
  question.text = std::move(text);
  return question;
}

std::string SchemaText(const Model& model) {
  std::vector<std::string> columns;
  for (const lineage::ColumnContract& contract : model.contracts) {
    columns.push_back(contract.name + (contract.type ? " " + *contract.type : ""));
  }
  return columns.empty() ? "any columns" : "has the columns " + Join(columns, ", ");
}

void PutOwn(const CheckSpec& check, std::vector<Question>* questions) {
  auto put = [&](Question question, bool named) {
    if (named && !check.name.empty()) question.name = check.name;
    question.blocks = check.severity == lineage::Severity::kBlock;
    Put(std::move(question), questions);
  };
  switch (check.kind) {
    case CheckKind::kRowsAgainstPublished:
      // Always under its own name: it takes the place of the default.
      put(Rows(check.limit), false);
      break;
    case CheckKind::kUnique:
      put(Unique(check.columns), true);
      break;
    case CheckKind::kNotNull:
      for (const std::string& column : check.columns) {
        put(NotNull(column), check.columns.size() == 1);
      }
      break;
    case CheckKind::kAcceptedValues:
      if (!check.columns.empty())
        put(AcceptedValues(check.columns[0], check.values), true);
      break;
    case CheckKind::kEmptyAllowed:
      break;
  }
}

template <typename T>
void AddOnce(const T& item, std::vector<T>* items) {
  if (std::find(items->begin(), items->end(), item) == items->end()) {
    items->push_back(item);
  }
}

}  // namespace

bool AllowsEmpty(const Model& model) {
  return model.allow_empty || std::any_of(model.checks.begin(), model.checks.end(),
                                          [](const CheckSpec& check) {
                                            return check.kind == CheckKind::kEmptyAllowed;
                                          });
}

std::vector<Question> QuestionsOf(const Model& model) {
  std::vector<Question> questions;
  Put(BuiltIn(Kind::kWithinPlan, kCheckWithinPlan,
              "no row outside of the planned partitions"),
      &questions);
  Put(BuiltIn(Kind::kSchema, kCheckSchema, SchemaText(model)), &questions);
  Put(BuiltIn(Kind::kNotEmpty, kCheckNotEmpty,
              AllowsEmpty(model) ? "planned partitions may be empty"
                                 : "no planned partition is empty"),
      &questions);
  Put(Rows(kDefaultRowsLimit), &questions);
  if (!model.key.empty()) {
    Question key = Unique(model.key);
    key.name = kCheckKey;
    Put(std::move(key), &questions);
  }
  for (const lineage::ColumnContract& contract : model.contracts) {
    if (contract.not_null) Put(NotNull(contract.name), &questions);
    if (contract.unique) Put(Unique({contract.name}), &questions);
    if (!contract.accepted_values.empty()) {
      Put(AcceptedValues(contract.name, contract.accepted_values), &questions);
    }
  }
  for (const CheckSpec& check : model.checks) PutOwn(check, &questions);
  return questions;
}

Needed MeasuresFor(const std::vector<Question>& questions) {
  Needed needed;
  for (const Question& question : questions) {
    if (question.kind == Kind::kNotNull) {
      AddOnce(question.columns[0], &needed.null_counts);
    } else if (question.kind == Kind::kUnique) {
      AddOnce(question.columns, &needed.distinct);
    } else if (question.kind == Kind::kAcceptedValues) {
      needed.accepted[question.name] = {question.columns[0], question.values};
    }
  }
  return needed;
}

}  // namespace amend::check
