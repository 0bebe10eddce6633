#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace amend::bench {

/// One figure. A limit belongs to the sizes that the project promises something for; with
/// other sizes it is compared all the same, and says less.
struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit;
};

/// What bench/run reads from a program whose name ends in _bench.
inline void Print(const std::vector<Figure>& figures) {
  Json all = Json::array();
  for (const Figure& figure : figures) {
    Json one = {{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
    one["limit"] = figure.limit ? Json(*figure.limit) : Json();
    one["holds"] = figure.limit ? Json(figure.value <= *figure.limit) : Json();
    all.push_back(std::move(one));
  }
  std::cout << all.dump(1) << '\n';
}

/// `--name NUMBER` for each of `sizes`, which holds the defaults. Invalid, naming what
/// there is, for anything else.
inline Status ReadSizes(int count, char** words, std::map<std::string, int>* sizes) {
  for (int i = 1; i < count; i += 2) {
    std::string_view word(words[i]);
    auto size =
        word.starts_with("--") ? sizes->find(std::string(word.substr(2))) : sizes->end();
    std::string_view text = i + 1 < count ? words[i + 1] : "";
    int number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (size == sizes->end() || error != std::errc() ||
        end != text.data() + text.size() || number < 1) {
      std::string known;
      for (const auto& [name, value] : *sizes) {
        known += " [--" + name + " " + std::to_string(value) + "]";
      }
      return Invalid("usage: " + std::string(words[0]) + known);
    }
    size->second = number;
  }
  return {};
}

/// The middle one; of an even count the upper. REQUIRES: not empty.
template <typename T>
T Median(std::vector<T> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The whole of a program's main: reads the sizes, runs, says what went wrong. Answers
/// the exit code.
template <typename Run>
int Main(int count, char** words, std::map<std::string, int> sizes, Run run) {
  Status status = ReadSizes(count, words, &sizes);
  if (status.ok()) status = run(sizes);
  if (!status.ok()) std::cerr << status.ToString() << '\n';
  return status.ok() ? 0 : 1;
}

}  // namespace amend::bench
