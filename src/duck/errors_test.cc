#include "duck/errors.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::duck {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Errors, SayWhatTheCallerCanDo) {
  struct Case {
    const char* message;
    StatusCode code;
  };
  const Case cases[] = {
      {"Parser Error: syntax error at or near \"selec\"", StatusCode::kInvalid},
      {"Binder Error: Referenced column \"b\" not found", StatusCode::kInvalid},
      {"Catalog Error: Table with name tt does not exist!", StatusCode::kInvalid},
      {"Conversion Error: Could not convert string 'a' to INT32", StatusCode::kRefused},
      {"Constraint Error: NOT NULL constraint failed: t.a", StatusCode::kRefused},
      {"IO Error: No files found that match the pattern \"/n\"", StatusCode::kNotFound},
      {"IO Error: Could not write file \"/x\": No space left on device",
       StatusCode::kExhausted},
      {"IO Error: Could not read from file", StatusCode::kTransient},
      {"Invalid Input Error: No magic bytes found at end of file 'x'",
       StatusCode::kDamaged},
      {"INTERRUPT Error: Interrupted!", StatusCode::kTransient},
      {"INTERNAL Error: Assertion triggered", StatusCode::kInternal},
      {"Not implemented Error: no such thing", StatusCode::kUnsupported},
      {"", StatusCode::kInternal},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(StatusOf(c.message, {}).code(), c.code) << c.message;
  }
}

TEST(Errors, TheLineGoesIntoThePlaceAndTheQuoteOutOfTheText) {
  Status status = StatusOf(
      "Binder Error: Referenced column \"bb\" not found in FROM clause!\n"
      "Candidate bindings: \"a\"\n\nLINE 3:  bb from t\n         ^",
      {});
  EXPECT_EQ(status.place().line, 3);
  EXPECT_EQ(
      status.message(),
      "Referenced column \"bb\" not found in FROM clause! Candidate bindings: \"a\"");
}

TEST(Errors, OutOfMemoryNamesTheLimitAndGivesOurAdvice) {
  std::string message =
      "Out of Memory Error: failed to allocate data of size 16.0 MiB (90.0 MiB/95.3 MiB "
      "used)\n\nPossible solutions:\n* Reducing the number of threads (SET threads=X)";
  Status status = StatusOf(message, {100'000'000, true});
  EXPECT_EQ(status.code(), StatusCode::kExhausted);
  EXPECT_THAT(status.message(), HasSubstr("100.0 MB"));
  EXPECT_THAT(status.message(), Not(HasSubstr("SET threads")));
  EXPECT_THAT(status.hint(), HasSubstr("limits.memory"));
  EXPECT_THAT(StatusOf(message, {0, false}).hint(), HasSubstr("spill"));
}

}  // namespace
}  // namespace amend::duck
