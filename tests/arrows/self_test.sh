#!/usr/bin/env bash
# check.sh must find every violation of the sample tree, and nothing else in it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
status=0
actual=$(bash "$here/check.sh" "$here/violating") || status=$?
diff -u "$here/violating.expected" - <<<"$actual"
if [[ $status -ne 1 ]]; then
  echo "check.sh ended with $status, expected 1"
  exit 1
fi
