#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amend/bound_project.h"
#include "base/env.h"
#include "base/status.h"
#include "db/connection.h"
#include "engine/engine.h"
#include "iceberg/sql_catalog.h"
#include "ledger/ledger.h"
#include "publish/publisher.h"
#include "state/facts.h"
#include "table/store.h"

namespace amend {

/// A project that is open: its definitions, its catalog and ledger, one engine for small
/// questions. What every command needs and nothing that only one does.
///
/// Not thread-safe.
class Workspace {
 public:
  /// Opens the project at `root`; makes the catalog where there is none. Invalid with the
  /// first problem of the project's text, saying how many more there are. `observer` is
  /// that of every connection; it may be null and outlives the workspace.
  static Result<std::unique_ptr<Workspace>> Open(
      Env& env, const std::string& root, db::StatementObserver* observer = nullptr);

  Env& env() { return env_; }
  const lineage::Project& project() const { return bound_.project; }
  const lineage::Lineage& lineage() const { return bound_.lineage; }
  sql::Binder& binder() { return *binder_; }
  table::Store& store() { return *store_; }
  ledger::Ledger& ledger() { return *ledger_; }

  Result<std::unique_ptr<db::Connection>> Connect() const;
  /// Runs `body` in one transaction and commits it where it writes.
  Status InTransaction(db::TransactionMode mode,
                       const std::function<Status(db::Transaction&)>& body);
  /// The engine for questions; opened when first asked for.
  Result<engine::Engine*> engine();
  /// Gives back its memory before other engines are opened; the next question opens it
  /// again. Pointers to it end.
  void CloseEngine() { engine_.reset(); }
  /// Bytes that all engines together may take at one time: `limits.memory` less what the
  /// process needs besides.
  std::int64_t EngineMemory() const;
  publish::Publisher MakePublisher() const;

  /// The build records and digests of a model as all entries so far left them. Each facts
  /// file is read and its digest checked once, as long as `entries` go on from call to
  /// call and the model has no more partitions than it is cheap to keep.
  Result<state::FactsInForce> Facts(const std::vector<ledger::Entry>& entries,
                                    const std::string& model);

  /// Invalid where one of these models is not partitioned as its table is: commands that
  /// read what is known of its partitions ask before they do.
  Status RefuseRepartitioned(const std::vector<std::string>& models);

  // Places.
  std::string StateFolder() const { return project().root + "/.amend"; }
  /// Beside the catalog, as the lock is: checkouts that share a catalog share what its
  /// plans staged, and exclude each other.
  std::string JournalFolder() const;
  std::string LockPath() const;
  std::string TempFolder() const { return StateFolder() + "/tmp"; }
  /// Of the namespace, as the ledger is: gc of another project over the same warehouse
  /// knows nothing of these facts.
  std::string FactsFolder() const { return LocationOf("_amend") + "/facts"; }
  /// Local folder of a table.
  std::string LocationOf(const std::string& table) const;

 private:
  Workspace(Env& env, BoundProject bound, sql::Binder binder,
            db::StatementObserver* observer);
  Status OpenCatalog();
  /// In a kRead transaction NotFound or Unsupported where writing may help.
  Status AttachCatalog(db::Transaction& tx);

  /// Facts of the entries of these numbers.
  struct ReadFacts {
    std::vector<std::int64_t> numbers;
    state::FactsInForce facts;
  };
  void Resolve(const ledger::Entry& entry, state::BuildRecord* record);
  Status ApplyFacts(const ledger::Entry& entry, const std::string& model,
                    state::FactsInForce* in_force);

  Env& env_;
  db::StatementObserver* observer_;
  BoundProject bound_;
  std::unique_ptr<sql::Binder> binder_;
  std::unique_ptr<table::Store> store_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::optional<engine::Engine> engine_;
  std::map<std::string, ReadFacts> read_facts_;  // by model
};

}  // namespace amend
