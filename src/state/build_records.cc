#include "state/build_records.h"

#include <algorithm>

namespace amend::state {

BuildRecords::BuildRecords(const std::vector<BuildRecord>& records) {
  definition_of_.reserve(records.size());
  publications_.reserve(records.size());
  for (const BuildRecord& record : records) {
    push_back(record);
    if (size() > 1) continue;
    for (auto& [input, versions] : verified_) versions.reserve(records.size());
  }
}

void BuildRecords::push_back(const BuildRecord& record) {
  // From behind: neighbours mostly share a definition.
  auto known = std::find(definitions_.rbegin(), definitions_.rend(), record.definition);
  if (known == definitions_.rend()) {
    definitions_.push_back(record.definition);
    known = definitions_.rbegin();
  }
  definition_of_.push_back(static_cast<std::uint32_t>(definitions_.rend() - known) - 1);
  for (auto& [input, versions] : verified_) {
    auto verified = record.verified_at.find(input);
    versions.push_back(verified == record.verified_at.end() ? kNever : verified->second);
  }
  for (const auto& [input, version] : record.verified_at) {
    auto [at, is_new] = verified_.try_emplace(input);
    if (!is_new) continue;
    at->second.assign(size(), kNever);
    at->second.push_back(version);
  }
  publications_.push_back(record.publication);
}

BuildRecord BuildRecords::operator[](std::size_t at) const {
  BuildRecord record;
  record.definition = definition(at);
  record.publication = publications_[at];
  for (const auto& [input, versions] : verified_) {
    if (versions[at] != kNever) record.verified_at.emplace(input, versions[at]);
  }
  return record;
}

const std::vector<Version>* BuildRecords::VerifiedAt(const std::string& input) const {
  auto at = verified_.find(input);
  return at == verified_.end() ? nullptr : &at->second;
}

}  // namespace amend::state
