#!/usr/bin/env bash
# The main job on three million real flights: build, add a column, correct a source, take the
# correction back. `make demo` calls it; it leaves the project in build/demo to explore.
#
# After each publication evaluate.py, a program apart from Amend, works out every model from
# the package's files in plain DuckDB and compares. The demo fails where anything differs,
# where a plan reaches more or less than it must, or where a second backfill moves anything.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
deps=$(cd "$root" && realpath "${DEPS_DIR:-.deps}")
amend=${AMEND_BINARY:-$root/build/amend}
python=${AMEND_PYTHON:-$deps/venv-demo/bin/python}
demo=${AMEND_DEMO_DIR:-$root/build/demo}
figures=$demo/figures

say() { printf '\n== %s\n' "$*"; }
# typed WORDS…: an amend command as a person would type it.
typed() {
  local word
  printf '\n$ amend'
  for word; do
    if [[ $word == *[!A-Za-z0-9_./=-]* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi
  done
}
run() {
  typed "$@"
  echo
  "$amend" "$@"
}
# keep NAME WORDS…: runs it with --json; its object is kept as figures/NAME.json.
keep() {
  local name=$1
  shift
  typed "$@" --json
  echo " > figures/$name.json"
  "$amend" "$@" --json >"$figures/$name.json"
}
figure() { "$python" "$here/figures.py" "$@"; }
evaluate() {
  "$python" "$here/evaluate.py" --amend "$amend" --project "$demo" --package "$deps/data" \
    --extensions "$deps/extensions" --input "$@"
}
# Everything that a no-op may not move: files with their sizes and times, and the pins.
everything() {
  find "$demo/lake" -type f -printf '%P %s %T@\n' | sort
  "$amend" pins --json
}
second_backfill_is_a_no_op() {
  local before
  before=$(everything)
  keep "$1" backfill --yes --reason 'nothing new'
  figure nothing-to-do "$figures/$1.json"
  [[ $(everything) == "$before" ]] || { echo "demo: a second backfill moved something" >&2; exit 1; }
  echo 'A second backfill moved no file, no snapshot, no pointer.'
}
# backfill NAME REASON MODEL=PARTITIONS…: plan, stage, review, publish, with the plan's reach
# checked.
backfill() {
  local name=$1 reason=$2
  shift 2
  run plan --reason "$reason"
  keep "plan-$name" plan --reason "$reason"
  figure reach "$figures/plan-$name.json" "$@"
  keep "stage-$name" stage
  figure staged "$figures/stage-$name.json"
  [[ $name == full ]] || run review
  keep "publish-$name" publish
  figure published "$figures/publish-$name.json"
}

[[ -x $amend ]] || { echo "demo: no $amend; type \`make demo\`" >&2; exit 1; }
rm -rf "$demo"
mkdir -p "$figures" "$demo/inputs"
cp -r "$here/amend.yaml" "$here/models" "$demo/"
cd "$demo"

say 'The source delivers 182 days of flights; nobody knows yet that 14 of them are wrong'
"$python" "$here/make_inputs.py" "$deps/data/flights-3m.parquet" "$demo/inputs"
run validate
run land airports "$deps/data/airports.csv"
run land flights inputs/flights_faulty.parquet

say 'Build all six models'
backfill full 'first build' stg_flights=182 daily_route=182 daily_airport=182 route_7d=182 \
  monthly_state=7 airport_rank=1
evaluate faulty
second_backfill_is_a_no_op again-full

say 'A: daily_route gets a column. Nobody reads it yet, so no other model is touched'
sed -i 's/AS late_delay_avg$/AS late_delay_avg,\n  max(delay) AS delay_max/' models/daily_route.sql
backfill a 'worst delay of a route and day' daily_route=182
evaluate faulty
second_backfill_is_a_no_op again-a

"$amend" pins --json >"$figures/pins-before-b.json"
say 'B: delays from DEN were 7 minutes too high from 5 to 18 March and rows came twice'
run land flights inputs/flights_corrected.parquet --replace-partitions
backfill b 'DEN delays were 7 min off' stg_flights=14 daily_route=14 daily_airport=14 \
  route_7d=20 monthly_state=1 airport_rank=1
evaluate corrected
second_backfill_is_a_no_op again-b

say 'B is taken back in one step; A stays'
keep rollback rollback "$(figure number "$figures/publish-b.json")"
figure published "$figures/rollback.json"
evaluate faulty --same-as "$figures/pins-before-b.json"
run plan
keep plan-held plan
figure held "$figures/plan-held.json" 64
second_backfill_is_a_no_op again-held

say 'What the work took, against building everything'
figure shares "$figures/stage-full.json" A="$figures/stage-a.json" B="$figures/stage-b.json"

say "The project is in ${demo#"$root"/}. Three commands to try"
try="${amend#"$root"/} -C ${demo#"$root"/}"
echo "  $try status"
echo "  $try why route_7d 2001-03-20"
echo "  $try query \"SELECT origin, sum(flights) AS n FROM daily_route GROUP BY origin ORDER BY n DESC LIMIT 5\""
