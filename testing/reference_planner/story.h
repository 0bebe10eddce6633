#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plan/world.h"

namespace amend::reference {

/// A world told in words, for tests that read like the case they are about. One fact a
/// line; a model's references follow it:
///
///   source flights day
///   model stg day
///     from flights same
///     column delay = flights.delay
///     rows flights.date
///   model route_7d day
///     from stg same
///     lookup stg 6 days back
///   live flights 2001-01-01 … 2001-03-31
///   change flights 2001-03-05 … 2001-03-18 by landing #2
///   now 2001-06-01
///
/// `from` drives which partitions exist (its own period), `union` starts another branch,
/// `lookup` only reads. Mappings: same, all, N UNIT back|ahead|earlier, everything
/// earlier; between grains `same` is truncation or expansion. Without `column` a model
/// has one column v, computed from v of every input.
///
/// `built M` gives every partition of M that is possible now a record of the definition
/// in force and the versions at hand; `record M RANGE of DEFINITION` one of another.
/// Every change moves its table to the next version.
class Story {
 public:
  /// Aborts (CHECK) with the line where the text is not of this form: a test is wrong.
  explicit Story(std::string_view text);

  const plan::World& world() const { return world_; }
  plan::World& world() { return world_; }
  partition::PartitionSet Range(const std::string& table, std::string_view text) const;

  /// Tells more, of facts only: the project stays.
  void Then(std::string_view text);

  /// The plan in words: planned partitions with their reasons, then what is skipped, held
  /// and warned of. "nothing" for a plan without work.
  std::string Plan() const;
  /// Publishes that plan: records, versions and changes as a publication leaves them.
  void Publish();

 private:
  struct Draft;
  void ReadProject(const std::string& line, Draft* draft);
  void ReadFact(const std::string& line);
  void ReadTableFact(const std::string& line);
  state::Hold HoldOn(const std::string& name, const partition::PartitionSet& at,
                     const std::string& by);
  void AddRecord(const std::string& name, const partition::PartitionSet& at,
                 const std::string& definition);
  void FinishProject(Draft* draft);
  state::TableState& TableOf(const std::string& name);

  std::shared_ptr<const lineage::Lineage> lineage_;
  plan::World world_;
  int publications_ = 0;
};

}  // namespace amend::reference
