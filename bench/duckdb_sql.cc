// duckdb_sql THREADS FILE: runs a script in plain DuckDB, for the baselines. The library
// is the one that Amend uses, so that only the work differs.

#include <charconv>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "duck/database.h"

namespace {

amend::Result<std::int64_t> Run(int threads, const std::string& file) {
  AMEND_ASSIGN(const std::string script, amend::Env::Real().ReadFile(file));
  AMEND_ASSIGN(auto database, amend::duck::Database::Open({.threads = threads}));
  AMEND_ASSIGN(auto connection, database.Connect());
  return connection.Execute(script);
}

}  // namespace

int main(int count, char** words) {
  int threads = 0;
  if (count == 3) std::from_chars(words[1], words[1] + std::strlen(words[1]), threads);
  if (threads < 1) {
    std::cerr << "usage: duckdb_sql THREADS FILE\n";
    return 2;
  }
  const auto done = Run(threads, words[2]);
  if (!done) std::cerr << done.error().ToString() << '\n';
  return done ? 0 : 1;
}
