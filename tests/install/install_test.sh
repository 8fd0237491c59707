#!/bin/bash
# Installs the build into a folder, moves the folder, and runs the program there
# without the source tree. Usage: install_test.sh CMAKE BUILD SOURCE
set -euo pipefail
cmake=$1 build=$2 source=$3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "install_test: $*" >&2
  exit 1
}

"$cmake" --install "$build" --prefix "$folder/first" >"$folder/log" || fail "$(cat "$folder/log")"
mv "$folder/first" "$folder/moved"
mkdir "$folder/elsewhere"
cd "$folder/elsewhere"
stave() { env -i PATH=/usr/bin:/bin LC_ALL=C "$folder/moved/bin/stave" "$@"; }

for file in bin/stave share/doc/stave/{LICENSE,README.md,CHANGELOG.md,docs/ir.md} share/stave/machines/h200-x2.toml \
  share/stave/examples/ring_matmul_2.stave share/bash-completion/completions/stave share/zsh/site-functions/_stave \
  share/fish/vendor_completions.d/stave.fish; do
  [[ -s $folder/moved/$file ]] || fail "$file is not installed"
done
if grep -rlF "$source" "$folder/moved/share"; then fail "the source tree is named in these"; fi

# Where Qt is there, the window is installed, too.
if [[ -e $build/bin/stave-gui ]]; then
  shown=$(env -i PATH=/usr/bin:/bin LC_ALL=C "$folder/moved/bin/stave-gui" --version) || fail "stave-gui does not start"
  [[ $shown == "stave-gui "* ]] || fail "stave-gui --version: $shown"
fi

# The installed machine files are what it reads: a change there shows, and a
# machine that only they have is found.
machines=$folder/moved/share/stave/machines
sed -i 's/^description = ".*"/description = "the installed one"/' "$machines/h200-x2.toml"
sed 's/^name = ".*"/name = "only-here"/' "$machines/h200-x2.toml" >"$machines/only-here.toml"
listed=$(stave machines)
[[ $listed == *"h200-x2 "*"the installed one"* ]] || fail "machines of another folder: $listed"
[[ $(stave machines h200-x2) == *"the installed one"* ]] || fail "h200-x2 is that of another folder"

example=$folder/moved/share/stave/examples/ring_matmul_2.stave
for machine in h200-x2 only-here; do
  predicted=$(stave sim "$example" --machine "$machine" -o ring.sqlite)
  [[ $predicted == *makespan* ]] || fail "sim on $machine: $predicted"
done
stave report ring.sqlite --quiet
stave new ring-matmul >/dev/null
stave check ring_matmul.stave --quiet
stave run ring_matmul.stave --param m=8 --param k=16 --param n=8 --quiet
echo ok
