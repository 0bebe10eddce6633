#include "testing/crash/crash_project.h"

#include <filesystem>
#include <fstream>

#include "ledger/ledger.h"

namespace amend::testing {
namespace {

constexpr const char* kProject = R"(name: shop
namespace: shop
catalog: .amend/catalog.db
warehouse: lake
limits:
  memory: 1GB
  threads: 1  # one task after the other: fault points have fixed numbers
sources:
  orders:
    kind: raw
    partition_by: day(ordered_at)
    key: [order_id]
    columns:
      order_id: {type: BIGINT, nullable: false}
      ordered_at: {type: TIMESTAMP, nullable: false}
      region: VARCHAR
      amount: BIGINT
)";

constexpr const char* kDaily = R"(/*---
partition_by: day(order_day)
key: [order_day, region]
columns:
  order_day: {type: DATE, nullable: false}
---*/
SELECT CAST(ordered_at AS DATE) AS order_day, region,
       count(*) AS orders, CAST(sum(amount) AS BIGINT) AS amount
FROM orders
GROUP BY CAST(ordered_at AS DATE), region
)";

constexpr const char* kRecent = R"(/*---
partition_by: day(order_day)
key: [order_day, region]
columns:
  order_day: {type: DATE, nullable: false}
---*/
SELECT order_day, region, CAST(sum(amount) OVER days AS BIGINT) AS amount_3d
FROM daily
WINDOW days AS (PARTITION BY region ORDER BY order_day
                RANGE BETWEEN INTERVAL 2 DAYS PRECEDING AND CURRENT ROW)
)";

constexpr const char* kMonthly = R"(/*---
partition_by: month(order_month)
key: [order_month, region]
columns:
  order_month: {type: DATE, nullable: false}
---*/
SELECT CAST(date_trunc('month', order_day) AS DATE) AS order_month, region,
       CAST(sum(amount) AS BIGINT) AS amount
FROM daily
GROUP BY CAST(date_trunc('month', order_day) AS DATE), region
)";

constexpr const char* kTables[] = {"orders", "daily", "recent", "monthly"};

void WriteText(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Days by their name, two orders in each of two regions.
std::string Csv(const std::vector<std::string>& days, int first_id, int factor) {
  std::string text = "order_id,ordered_at,region,amount\n";
  int id = first_id;
  for (const std::string& day : days) {
    for (const char* region : {"EU", "US", "EU", "US"}) {
      text += std::to_string(id) + "," + day + " 10:00:00," + region + "," +
              std::to_string(id * factor) + "\n";
      ++id;
    }
  }
  return text;
}

Result<Answer> Remember(Result<Answer> answer, const char* member, std::int64_t* number) {
  if (answer) *number = answer->json[member].get<std::int64_t>();
  return answer;
}

Result<Answer> MakePlan(Amend& amend, Story* story) {
  PlanOptions options;
  options.reason = "crash matrix";
  AMEND_ASSIGN(Answer answer, amend.Plan(options));
  story->plan = answer.json["plan"].get<std::string>();
  return answer;
}

Result<Json> LedgerOf(Workspace& workspace) {
  Json ledger = Json::array();
  auto read = [&](db::Transaction& tx) {
    AMEND_RETURN_IF_ERROR(workspace.ledger().VerifyChain(tx));
    AMEND_ASSIGN_OR_RETURN(auto intents, workspace.ledger().UnfinishedIntents(tx));
    if (!intents.empty()) return Internal("an intent is still open");
    AMEND_ASSIGN_OR_RETURN(auto entries, workspace.ledger().Entries(tx));
    for (const ledger::Entry& entry : entries) {
      Json line = Json::array({EntryKindName(entry.kind), entry.no_op, entry.reason});
      for (const ledger::EntryTable& table : entry.tables) {
        line.push_back(Json::array({table.table, table.changed, table.version}));
      }
      ledger.push_back(std::move(line));
    }
    return Status();
  };
  AMEND_FAIL_IF_ERROR(workspace.InTransaction(db::TransactionMode::kRead, read));
  return ledger;
}

}  // namespace

void WriteProject(const std::string& folder) {
  std::filesystem::path root = folder;
  WriteText(root / "amend.yaml", kProject);
  WriteText(root / "models/daily.sql", kDaily);
  WriteText(root / "models/recent.sql", kRecent);
  WriteText(root / "models/monthly.sql", kMonthly);
  WriteText(root / "orders.csv",
            Csv({"2024-01-28", "2024-01-29", "2024-01-30", "2024-01-31", "2024-02-01",
                 "2024-02-02", "2024-02-03", "2024-02-04"},
                1, 3));
  WriteText(root / "corrected.csv", Csv({"2024-01-30", "2024-01-31"}, 9, 5));
}

std::string StepName(Step step) {
  switch (step) {
    case Step::kLand:
      return "Land";
    case Step::kPlan:
      return "Plan";
    case Step::kStage:
      return "Stage";
    case Step::kPublish:
      return "Publish";
    case Step::kCorrect:
      return "Correct";
    case Step::kPlanAgain:
      return "PlanAgain";
    case Step::kStageAgain:
      return "StageAgain";
    case Step::kPublishAgain:
      return "PublishAgain";
    case Step::kRollback:
      return "Rollback";
  }
  return "";
}

Result<Answer> RunStep(Amend& amend, Step step, Story* story) {
  const std::string& root = amend.workspace().project().root;
  switch (step) {
    case Step::kLand:
      return amend.Land({"orders", {root + "/orders.csv"}, false, "first"});
    case Step::kCorrect:
      return amend.Land({"orders", {root + "/corrected.csv"}, true, "corrected"});
    case Step::kPlan:
    case Step::kPlanAgain:
      return MakePlan(amend, story);
    case Step::kStage:
    case Step::kStageAgain:
      return amend.Stage(story->plan, {});
    case Step::kPublish:
    case Step::kPublishAgain:
      return Remember(amend.Publish(story->plan), "publication", &story->publication);
    case Step::kRollback:
      return amend.Rollback({story->publication, "taken back", ""});
  }
  return Fail(Internal("no such step"));
}

bool SaysNoOp(Step step, const Json& answer) {
  if (step != Step::kStage && step != Step::kStageAgain) {
    return answer["no_op"].get<bool>();
  }
  const Json& tasks = answer["tasks"];
  return tasks["total"].get<int>() ==
         tasks["reused"].get<int>() + tasks["cut_off"].get<int>();
}

Json Describe(Amend& amend) {
  Json all = Json::object();
  for (const char* table : kTables) {
    auto answer =
        amend.Query({std::string("SELECT * FROM ") + table + " ORDER BY ALL", {}});
    if (answer) {
      all[table] = answer->json["rows"];
    } else if (answer.error().code() == StatusCode::kNotFound) {
      all[table] = Json::array();  // not made yet
    } else {
      all[table] = answer.error().ToString();
    }
  }
  auto status = amend.Status();
  all["status"] = status ? status->json : Json(status.error().ToString());
  auto ledger = LedgerOf(amend.workspace());
  all["ledger"] = ledger ? *ledger : Json(ledger.error().ToString());
  return all;
}

}  // namespace amend::testing
