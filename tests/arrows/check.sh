#!/usr/bin/env bash
# usage: check.sh ROOT
# Checks the arrows between the folders of ROOT on their #include lines:
#   core <- simulator, executor, profiles <- analysis <- workbench <- cli, gui
# One line a violation; exit 1 if there is one, 2 if ROOT has nothing to check.
set -euo pipefail

cd "${1:?usage: check.sh ROOT}"
folders=()
for folder in core simulator executor profiles analysis workbench cli gui; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done
if [[ ${#folders[@]} -eq 0 ]]; then
  echo "$PWD has none of Stave's folders" >&2
  exit 2
fi

rules='
BEGIN {
  may["core"] = "core"
  may["simulator"] = "core simulator"
  may["executor"] = "core executor"
  may["profiles"] = "core profiles"
  may["analysis"] = "core simulator executor profiles analysis"
  may["workbench"] = may["analysis"] " workbench"
  may["cli"] = may["workbench"] " cli"
  may["gui"] = may["workbench"] " gui"
}
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
  split(FILENAME, place, "/")
  from = place[1]
  quoted = $0 ~ /include[ \t]*"/
  header = $0
  sub(/^[^"<]*["<]/, "", header)
  sub(/[">].*$/, "", header)
  split(header, parts, "/")
  to = header ~ /\// ? parts[1] : ""
  if (to in may) {
    if (index(" " may[from] " ", " " to " ") == 0)
      printf "%s:%d: %s may not include \"%s\" (only: %s)\n", FILENAME, FNR, from, header, may[from]
  } else if (quoted) {
    printf "%s:%d: write \"%s\" from the root, or in < > if it is not of Stave\n", FILENAME, FNR, header
  }
}'
violations=$(find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) -print0 |
  LC_ALL=C sort -z | xargs -0 -r awk "$rules")
if [[ -n $violations ]]; then
  echo "$violations"
  exit 1
fi
