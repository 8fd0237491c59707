# What the scripts share. Source it; it changes to the root of the checkout.
set -euo pipefail
caller=$PWD
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=${STAVE_JOBS:-$(nproc)}
yes=no
arguments=()

# Prints the comment at the top of the script that was started.
usage() { sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "$script"; }

# Understands --help and --yes; everything else goes to the array `arguments`.
parse_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help) usage && exit 0 ;;
      -y | --yes) yes=yes ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
}

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

usage_error() {
  echo "$(basename "$0"): $*; see --help" >&2
  exit 2
}

# The Debian 12 packages of a set.
packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build libfmt-dev libsqlite3-dev libcli11-dev libtomlplusplus-dev libprotozero-dev zlib1g-dev \
      qt6-base-dev ;;
    test) echo libgtest-dev libgmock-dev librapidcheck-dev sqlite3 python3-jsonschema xvfb ;;
    bench) echo libbenchmark-dev ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    format) echo clang-format ;;
    lint) echo clang-tidy ;;
    *) usage_error "there is no set \"$1\"" ;;
  esac
}
package_sets=(build test bench fuzz format lint)

# Installs what is missing of the sets. With nothing missing it needs neither
# rights nor a network.
install_packages() {
  local wanted set missing=() package as_root=()
  for set in "$@"; do
    wanted=$(packages_of "$set")
    for package in $wanted; do
      if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then missing+=("$package"); fi
    done
  done
  if [[ ${#missing[@]} -eq 0 ]]; then return; fi
  if ! command -v apt-get >/dev/null; then
    echo "This is not Debian; these have to be there under their local names: ${missing[*]}" >&2
    return
  fi
  echo "To install with apt-get: ${missing[*]}"
  if [[ $yes == no && -t 0 ]]; then
    local answer
    read -r -p "Install them? [Y/n] " answer
    if [[ $answer == [nN]* ]]; then fail "not installed"; fi
  fi
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || fail "needs root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# The files that people write, of the given extensions, one a line.
source_files() {
  local folder folders=() names=() extension
  for folder in core simulator executor profiles analysis workbench cli gui tests; do
    if [[ -d $folder ]]; then folders+=("$folder"); fi
  done
  for extension in "$@"; do names+=(-o -name "*.$extension"); done
  find "${folders[@]}" -path tests/arrows/violating -prune -o -type f \( "${names[@]:1}" \) -print | LC_ALL=C sort
}

# The newest program of that name: PROGRAM-14 as on Debian 12, or PROGRAM.
llvm_14() {
  command -v "$1-14" || command -v "$1" || fail "needs $1 14"
}
