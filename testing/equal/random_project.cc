#include "testing/equal/random_project.h"

#include <algorithm>
#include <set>

#include "base/civil.h"
#include "base/status.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::equal {
namespace {

constexpr int kMostGrowth = 8;

/// The partitioned column types that a header must declare.
std::string DeclaredColumns(const std::string& partition_by) {
  std::string columns;
  if (partition_by.find("region") != std::string::npos) columns += "  region: VARCHAR\n";
  if (partition_by == "k") columns += "  k: INTEGER\n";
  return columns.empty() ? "" : "columns:\n" + columns;
}

/// Whether sums over x come out the same in any order. Where a shape adds in an order
/// that depends on other rows too (the probe side of a join, the tree under a window) and
/// they would not, it takes the least or greatest instead.
bool IsExact(const Shape& shape, ShapeChoices* choices) {
  const bool exact = choices->a.exact && choices->b.exact;
  if (!exact && shape.adds_in_any_order && choices->aggregate != "max") {
    choices->aggregate = "min";
  }
  return exact && choices->aggregate != "avg" &&
         std::string_view(shape.name) != "project";
}

}  // namespace

RandomProject::RandomProject(std::uint64_t seed) : random_(seed) {
  // Across ends of months, quarters, years, a leap day and ISO weeks.
  base_day_ = *ParseDay(Pick<std::string>(
      {"2023-01-20", "2023-03-18", "2023-12-12", "2024-02-09", "1969-12-20"}));
  const int sources = Int(1, 3);
  for (int i = 0; i < sources; ++i) AddSource(i);
  const int models = Pick<int>({2, 3, 3, 3, 4, 5});
  for (int i = 0; i < models; ++i) AddModel(i);
  corrections_ = Pick<int>({2, 2, 2, 3});
}

RandomProject RandomProject::WithLie(std::uint64_t seed) {
  RandomProject project(seed);
  Source source;
  source.table = {.name = "s0", .time = TimeKind::kDate};
  source.partition_by = "day(d)";
  source.days = 12;
  source.rows_a_day = 6;
  project.sources_ = {source};
  Model model;
  model.table = {.name = "m0", .time = TimeKind::kDate};
  model.shape = &*std::find_if(Shapes().begin(), Shapes().end(), [](const Shape& shape) {
    return std::string_view(shape.name) == "range frame";
  });
  model.choices.a = model.choices.b = source.table;
  model.choices.aggregate = "max";
  model.choices.back = 3;
  model.partition_by = "day(d)";
  model.inputs = "inputs:\n  s0: same\n";
  project.models_ = {model};
  project.corrections_ = 4;
  return project;
}

int RandomProject::Int(int low, int high) {
  return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
}

bool RandomProject::Chance(int percent) { return Int(1, 100) <= percent; }

void RandomProject::AddSource(int number) {
  Source source;
  source.table.name = fmt::format("s{}", number);
  // The first has time, so that corrections can be small.
  const int kind = number == 0 ? Int(1, 8) : Int(0, 8);
  source.days = Pick<int>({5, 6, 8, 9, 12, 14, 20});
  source.rows_a_day = Int(1, 6);
  source.null_days = Chance(40);
  source.table.exact = Chance(50);
  if (kind == 0) {
    source.table.time = TimeKind::kNone;
    source.days = 1;
    if (Chance(30)) source.partition_by = "region";
  } else if (kind <= 5) {
    source.table.time = TimeKind::kDate;
    source.partition_by = Pick<std::string>(
        {"day(d)", "day(d)", "day(d)", "day(d)", "month(d)", "[day(d), region]"});
  } else {
    source.table.time = TimeKind::kTimestamp;
    source.partition_by =
        Pick<std::string>({"day(ts)", "day(ts)", "hour(ts)", "month(ts)"});
    if (source.partition_by == "hour(ts)") source.days = std::min(source.days, 3);
  }
  if (number > 0 && Chance(10)) source.partition_by = "";
  sources_.push_back(std::move(source));
}

std::string RandomProject::PartitionBy(TimeKind time) {
  if (time == TimeKind::kNone) {
    return Pick<std::string>({"", "", "", "region", "k"});
  }
  const std::string column = TimeColumn(time);
  std::string grain = Pick<std::string>({"day", "day", "day", "day", "month", "year"});
  if (time == TimeKind::kTimestamp && Chance(15)) grain = "hour";
  if (Chance(5)) return "";
  if (Chance(4)) return "region";
  if (Chance(12)) return fmt::format("[{}({}), region]", grain, column);
  return fmt::format("{}({})", grain, column);
}

std::string RandomProject::AnyFilter() {
  return Pick<std::string>({"true", "true", "v > 20", "v IS NOT NULL", "k <> 2",
                            "region = 'a' OR v < 50", "x IS NULL OR x > -3"});
}

std::vector<const Table*> RandomProject::TablesOf(Needs needs, std::size_t known,
                                                  bool second, const Table* a) const {
  std::vector<const Table*> tables;
  auto fits = [&](const Table& table) {
    const bool time = table.time != TimeKind::kNone;
    switch (needs) {
      case Needs::kAny:
      case Needs::kAnyAndAny:
        return true;
      case Needs::kAnyAndTime:
        return !second || time;
      case Needs::kTime:
        return time;
      case Needs::kDate:
        return table.time == TimeKind::kDate;
      case Needs::kTimestamp:
        return table.time == TimeKind::kTimestamp;
      case Needs::kSameTime:
        return time && (!second || table.time == a->time);
      case Needs::kSameDate:
        return table.time == TimeKind::kDate;
      case Needs::kSameKind:
        return !second || table.time == a->time;
    }
    return false;
  };
  for (const Source& source : sources_) {
    if (fits(source.table)) tables.push_back(&source.table);
  }
  for (std::size_t i = 0; i < known; ++i) {
    if (fits(models_[i].table)) tables.push_back(&models_[i].table);
  }
  return tables;
}

bool RandomProject::TryShape(const Shape& shape, std::size_t known, Model* model) {
  std::vector<const Table*> first = TablesOf(shape.needs, known, false, nullptr);
  if (first.empty()) return false;
  // Chains are more telling than stars: newer tables are drawn twice as often.
  std::size_t at = static_cast<std::size_t>(Int(0, static_cast<int>(first.size()) - 1));
  if (Chance(50)) at = std::max(at, first.size() / 2);
  std::vector<const Table*> others = TablesOf(shape.needs, known, true, first[at]);
  if (others.empty()) return false;
  model->choices.a = *first[at];
  model->choices.b = *Pick(others);
  model->shape = &shape;
  model->table.exact = IsExact(shape, &model->choices);
  model->table.time = TimeOfOutput(shape, model->choices);
  const int growth_a = model->choices.a.growth;
  const int growth_b = model->choices.b.growth;
  model->table.growth = std::string_view(shape.name).starts_with("union")
                            ? growth_a + growth_b
                        : shape.needs == Needs::kAnyAndTime ? 2 * growth_b
                                                            : shape.copies * growth_a;
  return model->table.growth <= kMostGrowth;
}

/// What reads the model must find in it what it was chosen for.
bool RandomProject::TryAnotherShape(Model* model, std::size_t at) {
  for (int i = 0; i < 20; ++i) {
    Model other = *model;
    const Shape& shape = Pick(Shapes());
    if (&shape == model->shape || !TryShape(shape, at, &other)) continue;
    if (other.table.time != model->table.time) continue;
    if (other.table.growth > model->table.growth + 1) continue;
    if (model->table.exact && !other.table.exact) continue;
    other.inputs.clear();
    *model = std::move(other);
    return true;
  }
  return false;
}

void RandomProject::AddModel(int number) {
  Model model;
  model.table.name = fmt::format("m{}", number);
  ShapeChoices& choices = model.choices;
  choices.aggregate = Pick<std::string>({"sum", "sum", "avg", "min", "max"});
  choices.join = Pick<std::string>({"LEFT", "INNER"});
  choices.unit = Pick<std::string>({"week", "month", "month", "quarter", "year"});
  choices.filter = AnyFilter();
  choices.back = Int(0, 6);
  choices.ahead = Chance(30) ? Int(1, 3) : 0;
  for (;;) {
    const Shape& shape = Pick(Shapes());
    // What reads all of its input is tried less often: it makes every radius everything.
    if (shape.reads_all && Chance(60)) continue;
    if (TryShape(shape, models_.size(), &model)) break;
  }
  model.partition_by = PartitionBy(model.table.time);
  if (Chance(6)) {
    model.inputs = fmt::format("inputs:\n  {}: all\n", choices.a.name);
  }
  if (Chance(8)) model.replay = "replay: none\n";
  models_.push_back(std::move(model));
}

std::string RandomProject::SqlOf(const Model& model) {
  const std::string core = RenderShape(*model.shape, model.choices);
  if (model.value == "v" && model.filter.empty() && model.extras.empty()) return core;
  const std::string time = TimeColumn(model.table.time);
  std::string columns = (time.empty() ? "" : time + ", ") + "k, region, " + model.value +
                        (model.value == "v" ? "" : " AS v") + ", x";
  for (const std::string& extra : model.extras) columns += ", " + extra;
  return fmt::format("SELECT {}\nFROM (\n{}\n) AS q{}", columns, core,
                     model.filter.empty() ? "" : "\nWHERE " + model.filter);
}

File RandomProject::FileOf(const Model& model) {
  std::string header = "/*---\n";
  if (!model.partition_by.empty()) header += "partition_by: " + model.partition_by + "\n";
  header += DeclaredColumns(model.partition_by) + model.inputs + model.replay;
  header += "allow_empty: true\nchecks:\n  - rows_against_published: 100000\n---*/\n-- " +
            std::string(model.shape->name) + "\n";
  return {"models/" + model.table.name + ".sql", header + SqlOf(model) + "\n"};
}

std::vector<File> RandomProject::Files() const {
  std::string yaml =
      "name: random\nnamespace: random\nlimits:\n  memory: 1GB\n  threads: 1\nsources:\n";
  for (const Source& source : sources_) {
    yaml += "  " + source.table.name + ":\n";
    if (!source.partition_by.empty()) {
      yaml += "    partition_by: " + source.partition_by + "\n";
    }
    yaml += "    columns: {";
    if (source.table.time == TimeKind::kDate) yaml += "d: DATE, ";
    if (source.table.time == TimeKind::kTimestamp) yaml += "ts: TIMESTAMP, ";
    yaml += "k: INTEGER, region: VARCHAR, v: BIGINT, x: DOUBLE}\n";
  }
  std::vector<File> files = {{"amend.yaml", yaml}};
  for (const Model& model : models_) files.push_back(FileOf(model));
  return files;
}

RandomProject::Model* RandomProject::Find(const std::string& name) {
  auto model = std::find_if(models_.begin(), models_.end(),
                            [&](const Model& m) { return m.table.name == name; });
  AMEND_CHECK(model != models_.end());
  return &*model;
}

std::optional<File> RandomProject::DropDimension(const std::string& name) {
  Model* model = Find(name);
  if (model->partition_by.empty()) return std::nullopt;
  // "[day(d), region]" keeps "day(d)"; what has one dimension keeps nothing.
  const std::size_t comma = model->partition_by.find(',');
  model->partition_by =
      comma == std::string::npos ? "" : model->partition_by.substr(1, comma - 1);
  return FileOf(*model);
}

std::optional<File> RandomProject::Coarsen(const std::string& name) {
  Model* model = Find(name);
  std::string& cut = model->partition_by;
  if (!cut.starts_with("hour(") && !cut.starts_with("day(")) return DropDimension(name);
  cut = (cut[0] == 'h' ? "day" : "month") + cut.substr(cut.find('('));
  return FileOf(*model);
}

File RandomProject::UndoChange() {
  AMEND_CHECK(before_change_.has_value());
  for (Model& model : models_) {
    if (model.table.name == before_change_->table.name) model = *before_change_;
  }
  const File file = FileOf(*before_change_);
  before_change_.reset();
  return file;
}

std::vector<RandomProject::NamedSql> RandomProject::Models() const {
  std::vector<NamedSql> models;
  for (const Model& model : models_) models.push_back({model.table.name, SqlOf(model)});
  return models;
}

std::string RandomProject::TimeText(const Source& source, int day) {
  if (source.null_days && Chance(6)) return "";
  std::string text = FormatDay(base_day_ + day);
  if (source.table.time == TimeKind::kDate) return text;
  // Few instants, so that rows meet in joins and ties; midnight among them.
  static const std::vector<std::string> kTimes = {"00:00:00", "00:00:00", "06:30:00",
                                                  "12:00:00", "23:59:59.999999"};
  return text + " " + Pick(kTimes);
}

std::string RandomProject::Row(const Source& source, int day) {
  std::string row;
  if (source.table.time != TimeKind::kNone) row = TimeText(source, day) + ",";
  row += Chance(8) ? "" : std::to_string(Int(0, 3));
  row += Chance(10) ? "," : "," + Pick<std::string>({"a", "b", "c"});
  row += Chance(10) ? "," : "," + std::to_string(Int(0, 100));
  row += ",";
  if (!Chance(10)) {
    // Sums of tenths depend on their order in the last bits, those of eighths do not.
    const double x = Int(-1000, 1000) / (source.table.exact ? 8.0 : 10.0);
    row += fmt::format("{}", Chance(20) ? x * 1e9 : x);
  }
  return row;
}

File RandomProject::Csv(const Source& source, const std::vector<std::string>& rows) {
  std::string text = TimeColumn(source.table.time);
  text += std::string(text.empty() ? "" : ",") + "k,region,v,x\n";
  for (const std::string& row : rows) text += row + "\n";
  return {fmt::format("land/{}_{:03}.csv", source.table.name, files_++), text};
}

std::vector<Landing> RandomProject::FirstLandings() {
  std::vector<Landing> landings;
  for (const Source& source : sources_) {
    std::vector<std::string> rows;
    for (int day = 0; day < source.days; ++day) {
      const int least = source.days == 1 ? 1 : 0;
      const int count = Int(least, source.rows_a_day);
      for (int i = 0; i < count; ++i) rows.push_back(Row(source, day));
    }
    if (rows.empty()) rows.push_back(Row(source, 0));
    Landing landing;
    landing.source = source.table.name;
    landing.files.push_back(Csv(source, rows));
    landings.push_back(std::move(landing));
  }
  return landings;
}

std::vector<RandomProject::Source> RandomProject::ReadSources() const {
  std::vector<Source> read;
  for (const Source& source : sources_) {
    for (const Model& model : models_) {
      const std::string& name = source.table.name;
      // Once for each reader: what is read more is corrected more.
      if (SqlOf(model).find("FROM " + name) != std::string::npos) read.push_back(source);
    }
  }
  return read;
}

Landing RandomProject::AnyLanding(bool replace) {
  const Source source = Pick(ReadSources());
  std::set<int> days;
  const int count = Int(1, 3);
  const int first = Int(0, source.days);
  for (int i = 0; i < count; ++i) days.insert(first + (Chance(70) ? i : Int(-4, 4)));
  std::vector<std::string> rows;
  for (int day : days) {
    const int rows_a_day = Chance(25) ? 1 : Int(1, source.rows_a_day);
    for (int i = 0; i < rows_a_day; ++i) rows.push_back(Row(source, day));
  }
  Landing landing;
  landing.source = source.table.name;
  landing.replace = replace;
  landing.files.push_back(Csv(source, rows));
  return landing;
}

Correction RandomProject::ChangeCode() {
  const auto at = static_cast<std::size_t>(Int(0, static_cast<int>(models_.size()) - 1));
  Model& model = models_[at];
  before_change_ = model;
  const int number = ++changes_;
  const int what = Int(0, 11);
  std::string how;
  if (what <= 3) {
    how = "a column more";
    model.extras.push_back(fmt::format(
        "{} AS e{}",
        Pick<std::string>({"v * 2", "x / 3", "k + 1", "coalesce(region, 'none')"}),
        number));
  } else if (what <= 5) {
    how = "another value";
    model.value = Pick<std::string>({"v + 7", "coalesce(v, 0)", "-v"});
  } else if (what <= 7) {
    how = "another filter";
    model.filter = Pick<std::string>({"v < 90", "k IS NOT NULL", "region <> 'b'"});
  } else if (what == 8) {
    how = "another reach";
    model.choices.back = (model.choices.back + Int(1, 3)) % 8;
    model.choices.join = model.choices.join == "LEFT" ? "INNER" : "LEFT";
  } else if (what >= 10 && TryAnotherShape(&model, at)) {
    how = "another SELECT";
  } else {
    how = "another aggregate";
    model.choices.aggregate = model.choices.aggregate == "max" ? "min" : "max";
  }
  Correction correction;
  correction.kind = Correction::Kind::kCode;
  correction.files = {FileOf(model)};
  correction.text = fmt::format("change {}: {}", model.table.name, how);
  return correction;
}

Correction RandomProject::NextCorrection() {
  Correction correction;
  const int dice = Int(1, 100);
  if (rolled_back_ && dice <= 40) {
    rolled_back_ = false;
    correction.kind = Correction::Kind::kRelease;
    correction.text = "release all that is held";
  } else if (dice <= 10) {
    rolled_back_ = true;
    correction.kind = Correction::Kind::kRollback;
    correction.text = "roll the last publication back";
  } else if (dice <= 18) {
    correction.kind = Correction::Kind::kUnland;
    correction.landings_ago = Int(0, 3);
    correction.text = "take a landing back";
  } else if (dice <= 40) {
    correction = ChangeCode();
  } else if (dice <= 47) {
    correction.kind = Correction::Kind::kOvertake;
    correction.landings = {AnyLanding(Chance(50)), AnyLanding(Chance(50))};
    correction.text = "land, plan, stage; land again; publish what was staged";
  } else {
    const int count = Chance(20) ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      correction.landings.push_back(AnyLanding(Chance(50)));
    }
    correction.text = "land";
  }
  const bool may_select = correction.kind == Correction::Kind::kLand ||
                          correction.kind == Correction::Kind::kCode;
  if (may_select && Chance(20)) {
    correction.selected = Pick(models_).table.name;
    correction.full = Chance(30);
    correction.text += "; build " + correction.selected + " first";
  }
  correction.collect_garbage = Chance(8);
  return correction;
}

}  // namespace amend::equal
