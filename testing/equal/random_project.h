#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "testing/equal/shapes.h"

namespace amend::equal {

struct File {
  std::string path;  ///< below the project's folder
  std::string text;
};

struct Landing {
  std::string source;
  std::vector<File> files;
  bool replace = false;
};

/// What a person does to a project that is up to date.
struct Correction {
  enum class Kind {
    kLand,      ///< rows come, or days are replaced
    kCode,      ///< a model's text changes
    kRollback,  ///< the last publication is taken back
    kUnland,    ///< a landing is taken back: its rows go, perhaps whole partitions
    kRelease,   ///< what a rollback holds may be written again
    kOvertake,  ///< a plan is staged; a landing comes before it is published
  };
  Kind kind = Kind::kLand;
  std::string text;  ///< for the report of a failure
  std::vector<Landing> landings;
  std::vector<File> files;  ///< changed models
  bool collect_garbage = false;
  int landings_ago = 0;  ///< of kUnland: 0 is the last
  /// Not empty: this model alone is built first, whatever its inputs lack.
  std::string selected;
  bool full = false;  ///< and all of it
};

/// A random project and what happens to it: 1 to 3 raw sources, a DAG of 2 to 6 models of
/// any shape and grain, first landings, then corrections. The same seed always gives the
/// same story: it depends on nothing but the calls made.
class RandomProject {
 public:
  explicit RandomProject(std::uint64_t seed);
  /// One whose header says less than its SELECT reads: a window of four days is declared
  /// to read its own day only. What it calls current soon is not, and must be found.
  static RandomProject WithLie(std::uint64_t seed);

  /// amend.yaml and all models.
  std::vector<File> Files() const;
  /// One or more for each source, so that every table exists.
  std::vector<Landing> FirstLandings();
  /// How many corrections there are: 2 to 4.
  int corrections() const { return corrections_; }
  Correction NextCorrection();
  /// Cuts a model by one dimension less, or its days into months and so on; its file as
  /// it is then. Nothing if it is not cut at all.
  std::optional<File> DropDimension(const std::string& model);
  std::optional<File> Coarsen(const std::string& model);
  /// The models as they were before the last change of code; the file that undoes it.
  File UndoChange();

  /// Names, inputs first, and the SELECT in force.
  struct NamedSql {
    std::string name;
    std::string sql;
  };
  std::vector<NamedSql> Models() const;

 private:
  struct Source {
    Table table;
    std::string partition_by;  ///< "" is unpartitioned
    bool null_days = false;
    int days = 0;  ///< data falls on the days [0, days) from base_day_
    int rows_a_day = 0;
  };
  struct Model {
    Table table;
    const Shape* shape = nullptr;
    ShapeChoices choices;
    std::string partition_by;
    std::string inputs;  ///< YAML of declared inputs, "" mostly
    std::string replay;
    // What code changes turn.
    std::string value = "v";
    std::string filter;
    std::vector<std::string> extras;  ///< `expression AS name`
  };

  int Int(int low, int high);  // both included
  bool Chance(int percent);
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(Int(0, static_cast<int>(from.size()) - 1))];
  }

  void AddSource(int number);
  void AddModel(int number);
  Model* Find(const std::string& name);
  /// Fills in shape, inputs and what follows from them; false if none fit. The inputs
  /// are sources and the first `known` models.
  bool TryShape(const Shape& shape, std::size_t known, Model* model);
  bool TryAnotherShape(Model* model, std::size_t at);
  std::vector<const Table*> TablesOf(Needs needs, std::size_t known, bool second,
                                     const Table* a) const;
  std::string PartitionBy(TimeKind time);
  std::string AnyFilter();
  static std::string SqlOf(const Model& model);
  static File FileOf(const Model& model);

  std::string TimeText(const Source& source, int day);
  std::string Row(const Source& source, int day);
  File Csv(const Source& source, const std::vector<std::string>& rows);
  std::vector<Source> ReadSources() const;
  Landing AnyLanding(bool replace);
  Correction ChangeCode();

  std::mt19937_64 random_;
  std::int64_t base_day_ = 0;
  std::vector<Source> sources_;
  std::vector<Model> models_;
  std::optional<Model> before_change_;
  int corrections_ = 0;
  int files_ = 0;    ///< landed so far: names are unique
  int changes_ = 0;  ///< columns added so far
  bool rolled_back_ = false;
};

}  // namespace amend::equal
