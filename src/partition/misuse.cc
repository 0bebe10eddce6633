// What must not compile. The tests partition.misuse.* compile this file once as it is,
// which must succeed, and once with each MISUSE, which must be an error of types.
#include "partition/grain.h"
#include "partition/time_runs.h"

namespace amend::partition {

[[maybe_unused]] Period Good() {
  return RoundDownTo(Grain::kMonth, Period(Grain::kDay, 11'386));
}

#if MISUSE == 1  // a number taken for a period, its grain forgotten
[[maybe_unused]] Period Bad() { return 11'386; }
#elif MISUSE == 2  // a period taken for a number, its grain lost
[[maybe_unused]] std::int64_t Bad() { return Good(); }
#elif MISUSE == 3  // a day compared with a month
[[maybe_unused]] bool Bad() { return Period(Grain::kDay, 1) < Good(); }
#elif MISUSE == 4  // a day rounded to a month without saying so
[[maybe_unused]] Period Bad(Period day) { return Period(Grain::kMonth, day); }
#elif MISUSE == 5  // a period put on a line of unknown grain
[[maybe_unused]] TimeRuns Bad() { return TimeRuns::Point(Good()); }
#endif

}  // namespace amend::partition
