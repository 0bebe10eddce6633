#include "project/init.h"

#include "project/project_file.h"
#include "project/section.h"

namespace amend::project {
namespace {

struct SampleFile {
  std::string path;
  std::string text;
};

constexpr const char* kProjectText =
    R"(# What this project is built from. Unknown keys are errors: amend validate
name: "{name}"
namespace: "{namespace}"
catalog: .amend/catalog.db
warehouse: warehouse

limits:
  memory: 4GB
  threads: 2

sources:
  # Files come in through:  amend land orders data/orders.csv
  orders:
    partition_by: day(ordered_at)
    key: [order_id]
    columns:
      order_id: {type: BIGINT, nullable: false}
      ordered_at: {type: TIMESTAMP, nullable: false}
      region: VARCHAR
      amount: DECIMAL(12,2)
)";

constexpr const char* kDailyText = R"(/*---
partition_by: day(order_day)
key: [order_day, region]
columns:
  order_day: {type: DATE, nullable: false}
  orders: {type: BIGINT, nullable: false}
---*/
SELECT
  CAST(ordered_at AS DATE) AS order_day,
  region,
  count(*) AS orders,
  sum(amount) AS revenue
FROM orders
GROUP BY CAST(ordered_at AS DATE), region
)";

constexpr const char* kMonthlyText = R"(/*---
partition_by: month(order_month)
key: [order_month, region]
columns:
  order_month: {type: DATE, nullable: false}
---*/
SELECT
  CAST(date_trunc('month', order_day) AS DATE) AS order_month,
  region,
  CAST(sum(orders) AS BIGINT) AS orders,
  sum(revenue) AS revenue
FROM daily_sales
GROUP BY CAST(date_trunc('month', order_day) AS DATE), region
)";

constexpr const char* kSampleText = R"(order_id,ordered_at,region,amount
1,2024-01-30 09:15:00,EU,20.00
2,2024-01-30 17:40:12,US,35.50
3,2024-01-31 08:05:00,EU,12.25
4,2024-01-31 23:59:59,,99.90
5,2024-02-01 00:00:00,US,5.00
6,2024-02-01 11:30:00,EU,64.10
7,2024-02-02 14:22:45,US,18.75
)";

constexpr const char* kSamplePath = "data/orders.csv";
constexpr const char* kIgnorePath = ".gitignore";
constexpr const char* kIgnoreText = ".amend/\nwarehouse/\n";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// In the order of writing.
std::vector<SampleFile> FilesOf(const std::string& name) {
  const bool usable = name.find("_amend_") == std::string::npos;
  std::string project = Replaced(kProjectText, "{name}", name);
  project =
      Replaced(std::move(project), "{namespace}", usable ? name : kDefaultNamespace);
  return {{kIgnorePath, kIgnoreText},
          {kSamplePath, kSampleText},
          {"models/daily_sales.sql", kDailyText},
          {"models/monthly_sales.sql", kMonthlyText},
          {kProjectFile, std::move(project)}};
}

Status CheckFree(Env& env, const std::string& folder, const SampleFile& file) {
  const std::string path = folder + "/" + file.path;
  if (file.path == kIgnorePath || !env.Exists(path)) return Status();
  if (file.path == kProjectFile) {
    return Invalid("this folder is a project already: it has an amend.yaml")
        .At(path)
        .Hint("choose another folder, or go on with amend validate");
  }
  AMEND_ASSIGN_OR_RETURN(std::string found, env.ReadFile(path));
  if (found == file.text) return Status();
  return Invalid("the folder has another file of this name")
      .At(path)
      .Hint("choose an empty folder");
}

}  // namespace

Result<Initialised> InitProject(Env& env, const std::string& folder,
                                const std::string& name) {
  if (!IsName(name)) {
    return Fail(Invalid("'" + name + "' cannot name a project")
                    .Value(name)
                    .Hint("a letter or '_', then letters, digits and '_'"));
  }
  const std::vector<SampleFile> files = FilesOf(name);
  for (const SampleFile& file : files) {
    AMEND_FAIL_IF_ERROR(CheckFree(env, folder, file));
  }
  Initialised done;
  done.source = "orders";
  done.sample = kSamplePath;
  for (const SampleFile& file : files) {
    const std::string path = folder + "/" + file.path;
    if (env.Exists(path)) continue;
    const std::size_t slash = path.find_last_of('/');
    AMEND_FAIL_IF_ERROR(env.CreateFolders(path.substr(0, slash)));
    AMEND_FAIL_IF_ERROR(env.ReplaceFile(path, file.text));
    done.files.push_back(file.path);
  }
  return done;
}

}  // namespace amend::project
