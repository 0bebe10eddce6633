#include "state/write_set.h"

#include <array>
#include <utility>

#include "state/encode.h"
#include "state/verdict.h"

namespace amend::state {
namespace {

constexpr int kFormat = 1;

constexpr std::array<std::pair<Outcome, std::string_view>, 4> kOutcomes = {
    {{Outcome::kPass, "pass"},
     {Outcome::kFail, "fail"},
     {Outcome::kError, "error"},
     {Outcome::kNotRun, "not_run"}}};

Json DigestToJson(const Digest& digest) {
  return {{"formula", digest.formula},
          {"rows", digest.rows},
          {"low", digest.low},
          {"high", digest.high}};
}

Digest ReadDigest(JsonReader& outer, std::string_view member) {
  JsonReader in(outer.Object(member), "a digest");
  Digest digest{.formula = in.Text("formula"),
                .rows = in.Int("rows"),
                .low = in.Unsigned("low"),
                .high = in.Unsigned("high")};
  outer.Note(in.status());
  return digest;
}

partition::Partition ReadPartition(JsonReader& in) {
  auto partition = PartitionFromJson(in.Object("partition"));
  if (partition) return *std::move(partition);
  in.Note(partition.error());
  return {};
}

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  for (const auto& [value, name] : kOutcomes) {
    if (value == outcome) return name;
  }
  return "error";
}

Json WriteSetToJson(const WriteSet& set) {
  Json json;
  json["name"] = set.name;
  json["model"] = set.model;
  json["partitions"] = SetToJson(set.partitions);
  if (set.rest) json["rest"] = SetToJson(*set.rest);
  json["staged"] = Json::array();
  for (const StagedPartition& staged : set.staged) {
    Json item = {{"partition", PartitionToJson(staged.partition)},
                 {"digest", DigestToJson(staged.digest)}};
    if (staged.old_columns) item["old_columns"] = DigestToJson(*staged.old_columns);
    json["staged"].push_back(std::move(item));
  }
  json["files"] = Json::array();
  for (const StagedFile& file : set.files) {
    json["files"].push_back({{"path", file.path},
                             {"partition", PartitionToJson(file.partition)},
                             {"rows", file.rows},
                             {"bytes", file.bytes},
                             {"ordinal", file.ordinal},
                             {"metrics", file.metrics}});
  }
  json["cpu_micros"] = set.cpu_micros;
  json["bytes_read"] = set.bytes_read;
  return Seal(std::move(json), kFormat);
}

Result<WriteSet> WriteSetFromJson(const Json& json) {
  AMEND_FAIL_IF_ERROR(CheckSeal(json, kFormat, "the stored write set"));
  JsonReader in(json, "the stored write set");
  WriteSet set;
  set.name = in.Text("name");
  set.model = in.Text("model");
  set.partitions = in.Set("partitions");
  if (in.Has("rest")) set.rest = in.Set("rest");
  in.Each("staged", [&set](JsonReader& item) {
    StagedPartition staged{ReadPartition(item), ReadDigest(item, "digest"), {}};
    if (item.Has("old_columns")) staged.old_columns = ReadDigest(item, "old_columns");
    set.staged.push_back(std::move(staged));
  });
  in.Each("files", [&set](JsonReader& item) {
    StagedFile file;
    file.path = item.Text("path");
    file.partition = ReadPartition(item);
    file.rows = item.Int("rows");
    file.bytes = item.Int("bytes");
    file.ordinal = static_cast<int>(item.Int("ordinal"));
    if (item.Has("metrics")) file.metrics = item.json()["metrics"];
    set.files.push_back(std::move(file));
  });
  set.cpu_micros = in.Int("cpu_micros");
  set.bytes_read = in.Int("bytes_read");
  if (!in.status().ok()) return Fail(in.status());
  return set;
}

Json VerdictToJson(const Verdict& verdict) {
  Json json = {{"model", verdict.model},
               {"check", verdict.check},
               {"partition", verdict.partition},
               {"write_set", verdict.write_set},
               {"check_text", verdict.check_text},
               {"outcome", OutcomeName(verdict.outcome)},
               {"blocks", verdict.blocks},
               {"offending_rows", verdict.offending_rows},
               {"text", verdict.text},
               {"samples", Json::array()}};
  for (const Json& sample : verdict.samples) json["samples"].push_back(sample);
  return json;
}

Result<Verdict> VerdictFromJson(const Json& json) {
  JsonReader in(json, "a verdict");
  Verdict verdict;
  verdict.model = in.Text("model");
  verdict.check = in.Text("check");
  verdict.partition = in.Text("partition");
  verdict.write_set = in.Text("write_set");
  verdict.check_text = in.Text("check_text");
  const std::string outcome = in.Text("outcome");
  bool known = false;
  for (const auto& [value, name] : kOutcomes) {
    if (name != outcome) continue;
    verdict.outcome = value;
    known = true;
  }
  if (!known) in.Note(Damaged("a verdict has the unknown outcome '" + outcome + "'"));
  verdict.blocks = in.Bool("blocks");
  verdict.offending_rows = in.Int("offending_rows");
  verdict.text = in.Text("text");
  for (const Json& sample : in.Array("samples")) verdict.samples.push_back(sample);
  if (!in.status().ok()) return Fail(in.status());
  return verdict;
}

}  // namespace amend::state
