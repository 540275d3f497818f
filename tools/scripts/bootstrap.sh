#!/bin/bash
#===- bootstrap.sh - install what building and testing need -----------------===#
#
# Brings a bare Debian 12 to the point where `cmake --preset dev` and the test
# scripts work. Every step looks first and changes nothing that is there:
#
#   bootstrap.sh packages   Debian packages of the build (needs root if any lacks)
#   bootstrap.sh venv       build/venv with test/requirements.txt
#   bootstrap.sh venv-training  and test/training/requirements.txt
#   bootstrap.sh build      packages, then configure and build into build/
#   bootstrap.sh all        all of the above
#
# Sourced, it only defines the functions ampc_packages, ampc_venv,
# ampc_venv_training and ampc_build.
#===------------------------------------------------------------------------===#

AMPC_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

AMPC_APT_PACKAGES=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  clang-format-22 clang-tidy-22 libclang-rt-22-dev
  cmake ninja-build ccache libgtest-dev
  libprotobuf-dev protobuf-compiler zlib1g-dev python3-venv
)

ampc_say() { echo "-- $*" >&2; }

# Installs the packages of AMPC_APT_PACKAGES that are missing; asks the archive
# for its index only then.
ampc_packages() {
  local missing=() name
  for name in "${AMPC_APT_PACKAGES[@]}"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
      missing+=("$name")
    fi
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  ampc_say "installing ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: these packages are missing and need root: ${missing[*]}" >&2
      return 5
    }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -q -o Acquire::Retries=3 >&2 &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y -o Acquire::Retries=3 --no-install-recommends "${missing[@]}" >&2
}

# Prints a Python that is new enough and can make a virtual environment: the
# distribution's first, since version managers' shims depend on the folder.
ampc_find_python() {
  local candidate
  for candidate in ${AMPC_PYTHON:-} /usr/bin/python3 python3 python3.11 python3.12 python3.13; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

# Makes build/venv match test/requirements.txt. A stamp holds the hash of the
# list, a lock keeps parallel callers apart.
ampc_venv() {
  local venv="$AMPC_ROOT/build/venv" wanted python
  wanted="$(sha256sum <"$AMPC_ROOT/test/requirements.txt")"
  [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$wanted" ] && return 0
  mkdir -p "$AMPC_ROOT/build"
  (
    flock 9
    [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$wanted" ] && exit 0
    if ! python="$(ampc_find_python)"; then
      ampc_packages || exit
      python="$(ampc_find_python)" || {
        echo "error: no Python of at least 3.11 with the venv module" >&2
        exit 5
      }
    fi
    ampc_say "making $venv"
    # Python packages first go to a fresh folder; a half-made one is never used.
    rm -rf "$venv" && "$python" -m venv "$venv" &&
      "$venv/bin/pip" install -q --disable-pip-version-check --no-deps \
        --only-binary :all: -r "$AMPC_ROOT/test/requirements.txt" >&2 &&
      echo "$wanted" >"$venv/.stamp"
  ) 9>"$AMPC_ROOT/build/.venv-lock"
}

# Adds test/training/requirements.txt to build/venv: large packages that only the
# tests of training need. Packages of the first list are left as they are.
ampc_venv_training() {
  local venv="$AMPC_ROOT/build/venv" list="$AMPC_ROOT/test/training/requirements.txt" wanted
  ampc_venv || return
  wanted="$(sha256sum <"$list")"
  [ "$(cat "$venv/.stamp-training" 2>/dev/null)" = "$wanted" ] && return 0
  (
    flock 9
    [ "$(cat "$venv/.stamp-training" 2>/dev/null)" = "$wanted" ] && exit 0
    ampc_say "adding what tests of training need to $venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
      --only-binary :all: -r "$list" >&2 && echo "$wanted" >"$venv/.stamp-training"
  ) 9>"$AMPC_ROOT/build/.venv-lock"
}

# Configures with the dev preset if that has not been done, and builds.
ampc_build() {
  ampc_packages || return
  (
    cd "$AMPC_ROOT" || exit
    if [ ! -f build/build.ninja ]; then
      ampc_say "configuring"
      mkdir -p build
      if ! cmake --preset dev >build/configure.log 2>&1; then
        cat build/configure.log >&2
        exit 7
      fi
    fi
    ampc_say "building"
    nice -n 5 ninja -C build -j "${AMPC_JOBS:-$(nproc)}" "$@"
  )
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -u
  case "${1:-}" in
  packages) ampc_packages ;;
  venv) ampc_venv ;;
  venv-training) ampc_venv_training ;;
  build) shift; ampc_build "$@" ;;
  all) ampc_packages && ampc_venv && ampc_build ;;
  *) echo "usage: bootstrap.sh packages|venv|venv-training|build|all" >&2; exit 2 ;;
  esac
fi
