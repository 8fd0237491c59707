#!/usr/bin/env bash
# usage: real_window.sh TEST_PROGRAM
# The tests of the window in a real one, on a display of its own. Exit code 77: there is no Xvfb.
set -euo pipefail
if ! command -v Xvfb >/dev/null; then
  echo "skipped: there is no Xvfb (Debian: xvfb)"
  exit 77
fi
folder=$(mktemp -d)
Xvfb -displayfd 3 -screen 0 1920x1080x24 -nolisten tcp 3>"$folder/display" 2>"$folder/log" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
  [[ -s $folder/display ]] && break
  sleep 0.1
done
[[ -s $folder/display ]] || { cat "$folder/log" >&2; exit 1; }
DISPLAY=:$(<"$folder/display") QT_QPA_PLATFORM=xcb "$1" --gtest_filter='Window.*'
