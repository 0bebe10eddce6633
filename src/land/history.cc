#include "land/history.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "fmt/format.h"
#include "table/data_files.h"

namespace amend::land {
namespace {

bool Within(const PastLanding& landing, const std::set<std::string>& digests) {
  return std::all_of(
      landing.files.begin(), landing.files.end(),
      [&digests](const auto& file) { return digests.contains(file.first); });
}

std::int64_t RowsOf(const PastLanding& landing) {
  std::int64_t rows = 0;
  for (const auto& [digest, count] : landing.files) rows += count;
  return rows;
}

/// Live rows by run, of those partitions that hold a file of one of `runs`.
std::map<std::string, std::int64_t> LiveRows(
    const std::map<std::string, const PastLanding*>& runs, const table::Contents& live) {
  std::set<partition::Partition> points;
  for (const table::TableFile& file : live.files()) {
    if (runs.contains(table::RunOfFile(file.file.path))) points.insert(file.point);
  }
  std::map<std::string, std::int64_t> rows;
  for (const table::TableFile& file : live.files()) {
    if (!points.contains(file.point)) continue;
    rows[table::RunOfFile(file.file.path)] += file.file.record_count;
  }
  return rows;
}

Result<PastLanding> ReadLanding(const ledger::Entry& entry) {
  PastLanding landing;
  landing.number = entry.number;
  landing.run = entry.run;
  auto files = entry.body.is_object() ? entry.body.find("files") : entry.body.end();
  if (files == entry.body.end() || !files->is_array()) {
    return Fail(Damaged(fmt::format("landing #{} does not say its files", entry.number)));
  }
  for (const Json& file : *files) {
    AMEND_ASSIGN(std::string digest, JsonString(file, "digest", "a landed file"));
    AMEND_ASSIGN(landing.files[digest], JsonInt(file, "rows", "a landed file"));
  }
  landing.listed = *files;
  return landing;
}

}  // namespace

Result<std::vector<PastLanding>> LandingsOf(const std::vector<ledger::Entry>& entries,
                                            const std::string& source) {
  std::set<std::int64_t> taken_back;
  for (const ledger::Entry& entry : entries) {
    if (entry.rolls_back) taken_back.insert(*entry.rolls_back);
  }
  std::vector<PastLanding> landings;
  for (const ledger::Entry& entry : entries) {
    bool ours = entry.kind == ledger::EntryKind::kLand && !entry.tables.empty() &&
                entry.tables[0].table == source;
    if (!ours || taken_back.contains(entry.number)) continue;
    AMEND_ASSIGN(PastLanding landing, ReadLanding(entry));
    landings.push_back(std::move(landing));
  }
  return landings;
}

const PastLanding* FindLanded(const std::vector<PastLanding>& landings,
                              const std::string& digest) {
  auto it = std::find_if(
      landings.rbegin(), landings.rend(),
      [&digest](const PastLanding& landing) { return landing.files.contains(digest); });
  return it == landings.rend() ? nullptr : &*it;
}

const PastLanding* FindExact(const std::vector<PastLanding>& landings,
                             const std::set<std::string>& digests,
                             const table::Contents& live) {
  std::map<std::string, const PastLanding*> runs;
  std::set<std::string> missing = digests;
  for (const PastLanding& landing : landings) {
    if (!Within(landing, digests)) continue;
    runs[landing.run] = &landing;
    for (const auto& [digest, rows] : landing.files) {
      if (rows == 0) missing.erase(digest);  // nothing to find
    }
  }
  const PastLanding* latest = nullptr;
  for (const auto& [run, rows] : LiveRows(runs, live)) {
    auto it = runs.find(run);
    if (it == runs.end() || RowsOf(*it->second) != rows) return nullptr;
    for (const auto& [digest, count] : it->second->files) {
      if (count > 0 && missing.erase(digest) == 0) return nullptr;  // there twice
    }
    if (latest == nullptr || latest->number < it->second->number) latest = it->second;
  }
  if (!missing.empty()) return nullptr;
  return latest == nullptr ? FindLanded(landings, *digests.begin()) : latest;
}

}  // namespace amend::land
