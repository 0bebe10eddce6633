#include "engine/facts_file.h"

#include "base/hash.h"
#include "base/text.h"
#include "fmt/format.h"
#include "state/encode.h"

namespace amend::engine {
namespace {

using state::PartitionFact;

constexpr std::size_t kRowsPerInsert = 500;
constexpr std::string_view kColumns =
    "time BIGINT, \"values\" VARCHAR, kind VARCHAR, rows BIGINT, low UBIGINT, "
    "high UBIGINT, formula VARCHAR, definition VARCHAR, publication BIGINT, "
    "verified_at VARCHAR, write_set VARCHAR, files VARCHAR, partitions VARCHAR";

Json ValuesToJson(const partition::PartitionSpace& space,
                  const partition::ValueTuple& values) {
  Json json = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    json.push_back(partition::ValueToJson(space.value_dimensions()[i].type, values[i]));
  }
  return json;
}

std::string VerifiedJson(const state::BuildRecord& record) {
  Json verified = Json::object();
  for (const auto& [table, version] : record.verified_at) {
    auto uuid = record.verified_in.find(table);
    verified[table] = uuid == record.verified_in.end()
                          ? Json(version)
                          : Json::array({version, uuid->second});
  }
  return verified.dump();
}

std::string RowSql(const partition::PartitionSpace& space, const PartitionFact& fact) {
  return fmt::format("({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, NULL)",
                     fact.partition.time ? std::to_string(*fact.partition.time) : "NULL",
                     SqlLiteral(ValuesToJson(space, fact.partition.values).dump()),
                     SqlLiteral(FactKindName(fact.kind)), fact.digest.rows,
                     fact.digest.low, fact.digest.high, SqlLiteral(fact.digest.formula),
                     SqlLiteral(fact.record.definition), fact.record.publication,
                     SqlLiteral(VerifiedJson(fact.record)), SqlLiteral(fact.write_set),
                     SqlLiteral(Json(fact.files).dump()));
}

std::string RowSql(const state::RestFact& fact) {
  return fmt::format("(NULL, '[]', {}, 0, 0, 0, '', {}, {}, {}, '', '[]', {})",
                     SqlLiteral(FactKindName(fact.kind)),
                     SqlLiteral(fact.record.definition), fact.record.publication,
                     SqlLiteral(VerifiedJson(fact.record)),
                     SqlLiteral(state::SetToJson(fact.partitions).dump()));
}

Status Fill(duck::Connection& connection, const partition::PartitionSpace& space,
            const state::TableFacts& facts) {
  AMEND_ASSIGN_OR_RETURN(auto made,
                         connection.Execute(fmt::format(
                             "CREATE OR REPLACE TEMP TABLE amend_facts ({})", kColumns)));
  static_cast<void>(made);
  std::vector<std::string> rows;
  auto insert = [&]() -> Status {
    if (rows.empty()) return {};
    AMEND_ASSIGN_OR_RETURN(
        auto inserted,
        connection.Execute("INSERT INTO amend_facts VALUES " + Join(rows, ", ")));
    static_cast<void>(inserted);
    rows.clear();
    return {};
  };
  for (const state::RestFact& fact : facts.rest) rows.push_back(RowSql(fact));
  for (const PartitionFact& fact : facts.points) {
    if (rows.size() >= kRowsPerInsert) AMEND_RETURN_IF_ERROR(insert());
    rows.push_back(RowSql(space, fact));
  }
  return insert();
}

/// Reads one row's columns from left to right; the first wrong one makes it Damaged.
class FactReader {
 public:
  FactReader(const partition::PartitionSpace& space, const duck::Row& row)
      : space_(space), row_(row) {}

  bool IsRest() const { return !duck::IsNull(row_[12]); }

  Result<state::RestFact> ReadRest() {
    state::RestFact fact;
    auto kind = state::ParseFactKind(Text(2));
    if (kind) fact.kind = *kind;
    ReadRecord(&fact.record);
    auto partitions = state::SetFromJson(Parsed(12));
    if (!partitions || partitions->shape() != space_.shape()) damaged_ = true;
    if (damaged_ || !kind)
      return Fail(Damaged("a fact of many partitions does not read"));
    fact.partitions = *std::move(partitions);
    return fact;
  }

  Result<PartitionFact> Read() {
    PartitionFact fact;
    if (duck::IsNull(row_[0])) {
      fact.partition.time = std::nullopt;
    } else {
      fact.partition.time = Int(0);
    }
    ReadValues(&fact.partition.values);
    auto kind = state::ParseFactKind(Text(2));
    if (kind) fact.kind = *kind;
    fact.digest = {Text(6), Int(3), Unsigned(4), Unsigned(5)};
    ReadRecord(&fact.record);
    fact.write_set = Text(10);
    ReadFiles(&fact.files);
    if (damaged_ || !kind) return Fail(Damaged("a partition fact does not read"));
    return fact;
  }

 private:
  std::int64_t Int(std::size_t column) {
    const auto* number = std::get_if<std::int64_t>(&row_[column]);
    damaged_ = damaged_ || number == nullptr;
    return number == nullptr ? 0 : *number;
  }
  std::uint64_t Unsigned(std::size_t column) {
    if (const auto* huge = std::get_if<duck::HugeInt>(&row_[column])) {
      return static_cast<std::uint64_t>(huge->number);
    }
    return static_cast<std::uint64_t>(Int(column));
  }
  std::string Text(std::size_t column) {
    const auto* text = std::get_if<std::string>(&row_[column]);
    damaged_ = damaged_ || text == nullptr;
    return text == nullptr ? "" : *text;
  }
  Json Parsed(std::size_t column) {
    auto json = ParseJson(Text(column), "partition fact");
    damaged_ = damaged_ || !json;
    return json ? *std::move(json) : Json();
  }
  void ReadValues(partition::ValueTuple* values) {
    Json json = Parsed(1);
    if (!json.is_array() || json.size() != space_.value_dimensions().size()) {
      damaged_ = true;
      return;
    }
    for (std::size_t i = 0; i < json.size(); ++i) {
      auto value = partition::ValueFromJson(space_.value_dimensions()[i].type, json[i]);
      damaged_ = damaged_ || !value;
      if (value) values->push_back(*std::move(value));
    }
  }
  void ReadRecord(state::BuildRecord* record) {
    record->definition = Text(7);
    record->publication = Int(8);
    Json json = Parsed(9);
    for (const auto& [table, at] : json.items()) {
      bool with_uuid = at.is_array() && at.size() == 2 && at[1].is_string();
      const Json& version = with_uuid ? at[0] : at;
      damaged_ = damaged_ || !version.is_number_integer();
      if (damaged_) return;
      record->verified_at[table] = version.get<state::Version>();
      if (with_uuid) record->verified_in[table] = at[1].get<std::string>();
    }
  }
  void ReadFiles(std::vector<std::string>* files) {
    for (const Json& file : Parsed(11)) {
      damaged_ = damaged_ || !file.is_string();
      if (file.is_string()) files->push_back(file.get<std::string>());
    }
  }

  const partition::PartitionSpace& space_;
  const duck::Row& row_;
  bool damaged_ = false;
};

}  // namespace

Result<std::string> WriteFacts(Env& env, duck::Connection& connection,
                               const partition::PartitionSpace& space,
                               const state::TableFacts& facts, const std::string& path,
                               const std::string& root) {
  AMEND_FAIL_IF_ERROR(env.CreateFolders(FolderOf(path)));
  AMEND_FAIL_IF_ERROR(Fill(connection, space, facts));
  AMEND_ASSIGN(auto written,
               connection.Execute(fmt::format(
                   "COPY (SELECT * FROM amend_facts ORDER BY \"values\", time NULLS "
                   "FIRST) TO {} (FORMAT parquet, COMPRESSION zstd)",
                   SqlLiteral(path))));
  static_cast<void>(written);
  AMEND_FAIL_IF_ERROR(SyncAll(env, {path}, root));
  return Sha256File(env, path);
}

Result<state::TableFacts> ReadFacts(Env& env, duck::Connection& connection,
                                    const partition::PartitionSpace& space,
                                    const std::string& path, const std::string& digest) {
  AMEND_ASSIGN(std::string found, Sha256File(env, path));
  if (found != digest) {
    return Fail(Damaged("the facts file is not the one that was published: " + path)
                    .Hint("Restore it from a backup; its digest is in the ledger."));
  }
  AMEND_ASSIGN(duck::Rows rows, connection.Query(fmt::format(
                                    "SELECT * FROM read_parquet({}, "
                                    "hive_partitioning=false) ORDER BY \"values\", "
                                    "time NULLS FIRST",
                                    duck::ToPathLiteral(path))));
  state::TableFacts facts;
  for (const duck::Row& row : rows.rows) {
    FactReader reader(space, row);
    if (reader.IsRest()) {
      auto fact = reader.ReadRest();
      if (!fact) return Fail(fact.error().Annotate(path));
      facts.rest.push_back(*std::move(fact));
    } else {
      auto fact = reader.Read();
      if (!fact) return Fail(fact.error().Annotate(path));
      facts.points.push_back(*std::move(fact));
    }
  }
  return facts;
}

}  // namespace amend::engine
