# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, and what stamp.sh sets
# Makes a machine ready for kbench. Sourced with `root` set, after stamp.sh; callers use set_up and
# explain_set_up. Messages go to stderr, the output of commands to a log.

readonly kDownload="about 5 GB on disk (a 2.7 GB download)"
readonly kDuration="about 10 minutes on 2 cores"
readonly kDiskNeededMb=8000

# The versions of Python that kbench can be built for, and the same as a test in Python.
python_range="3.11 to 3.14"
python_test="(3, 11) <= version <= (3, 14)"

say() { printf 'kbench: %s\n' "$*" >&2; }

# stop SENTENCE: prints it and exits with 1.
stop() {
  say "$*"
  stop_early_build
  exit 1
}

stop_usage() {
  say "$*"
  exit 2
}

explain_set_up() {
  say "not set up yet. Run \`scripts/kbench setup\` or \`scripts/kbench eval\` to set it up:" \
    "$kDownload, $kDuration. KBENCH_PYTHON=/path/to/python uses a Python that has torch" \
    "instead; KBENCH_HOME names the folder for everything (now $kbench_home)."
}

# run_logged WHAT COMMAND…: sends the output to the log. If it fails, stops with a reason.
run_logged() {
  local what=$1 status
  shift
  printf '\n[%s] %s\n' "$(date '+%F %T')" "$*" >>"$log"
  "$@" </dev/null >>"$log" 2>&1
  status=$?
  [[ $status -eq 0 ]] || stop "$what failed ($(reason_in_log)); its whole output is in $log"
}

reason_in_log() {
  local line
  line=$(tail -n 200 "$log" | grep -iE '(error|fatal|failed|cannot|no space)' | grep -v 'FAILED: ' |
    head -n 1 | cut -c 1-240)
  printf '%s' "${line:-no reason given}"
}

# --- Packages of Debian and Ubuntu ----------------------------------------------------------------

# Tests for what the build needs, wherever it comes from; missing_packages names the packages.
have_header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }
have_python_parts() { [[ -n ${KBENCH_PYTHON:-} ]] || find_base_python; }
have_clang() { command -v clang++ >/dev/null || compgen -c clang++- >/dev/null; }
have_d3() { [[ -e /usr/share/nodejs/d3/dist/d3.min.js ]]; }
have_browser() {
  command -v chromedriver >/dev/null && command -v chromium >/dev/null &&
    /usr/bin/python3 -c 'import selenium' 2>/dev/null
}
have_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | head -n 1 | grep -oE '[0-9]+\.[0-9]+') || return 1
  [[ ${version%.*} -gt 3 || (${version%.*} -eq 3 && ${version#*.} -ge 24) ]]
}

missing_packages() {
  missing=()
  command -v g++ >/dev/null || missing+=(g++)
  have_cmake || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)
  have_header CLI/CLI.hpp || missing+=(libcli11-dev)
  have_header nlohmann/json.hpp || missing+=(nlohmann-json3-dev)
  have_header fmt/core.h || missing+=(libfmt-dev)
  have_header simdjson.h || missing+=(libsimdjson-dev)
  if [[ $with_tests == ON ]]; then
    have_header gtest/gtest.h || missing+=(libgtest-dev)
    have_header gmock/gmock.h || missing+=(libgmock-dev)
  fi
  if [[ $mode == full ]]; then
    have_python_parts || missing+=(python3-dev python3-venv)
    have_clang || missing+=(clang)
  fi
}

# Optional packages: for charts of the HTML report, and for tests of it and of the completions.
welcome_packages() {
  missing=()
  have_d3 || missing+=(node-d3)
  if [[ $with_tests == ON && $mode == full ]]; then
    have_browser || missing+=(chromium chromium-driver python3-selenium fonts-dejavu-core)
    command -v fish >/dev/null || missing+=(fish)
    command -v zsh >/dev/null || missing+=(zsh)
    /usr/bin/python3 -c "import jsonschema, yaml" 2>/dev/null ||
      missing+=(python3-jsonschema python3-yaml)
  fi
}

# Sets `as_root` to the command prefix that gives root rights; fails if there is none.
find_root() {
  as_root=()
  [[ $(id -u) -eq 0 ]] && return 0
  as_root=(sudo -n)
  command -v sudo >/dev/null && sudo -n true 2>/dev/null
}

install_packages() {
  missing_packages
  install_missing
  # Separately, because apt-get installs none if the distribution lacks one of them.
  welcome_packages
  install_missing
}

install_missing() {
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ -n ${KBENCH_NO_APT:-} ]] || ! command -v apt-get >/dev/null || ! find_root; then
    say "cannot install these packages: ${missing[*]} (needs apt-get and root); trying without"
    return 0
  fi
  say "installing packages: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  # A failure does not stop: the machine may still have enough to build.
  if ! "${apt[@]}" update </dev/null >>"$log" 2>&1 ||
    ! "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; then
    say "apt-get could not install these packages ($(reason_in_log)); trying without"
  fi
}

# --- Python and torch -----------------------------------------------------------------------------

query() { "$1" "$root/scripts/cmake/query_python.py" "${@:2}" 2>>"$log"; }

# json_field JSON NAME: the value of a string field of query_python.py's answer.
json_field() { sed -n 's/^ "'"$2"'": "\{0,1\}\([^"]*\)"\{0,1\},\{0,1\}$/\1/p' <<<"$1"; }

# Sets base_python to a Python that can make the venv and be embedded; else sets python_lacks.
find_base_python() {
  local python answer parts
  base_python=
  python_lacks=
  for python in /usr/bin/python3 "$(command -v python3)" /usr/bin/python3.1{1,2,3,4}; do
    [[ -x $python ]] || continue
    "$python" -c "import sys; version = sys.version_info[:2]; sys.exit(not ($python_test))" \
      2>/dev/null || continue
    answer=$(query "$python") || continue
    parts=
    [[ -n $(json_field "$answer" libpython) ]] || parts+=" its shared library (python3-dev),"
    grep -q '"python_includes": \[\]' <<<"$answer" && parts+=" its headers (python3-dev),"
    "$python" -c 'import venv, ensurepip' 2>/dev/null || parts+=" venv (python3-venv),"
    if [[ -z $parts ]]; then
      base_python=$python
      return 0
    fi
    python_lacks=${python_lacks:-"$python lacks${parts%,}"}
  done
  return 1
}

require_base_python() {
  find_base_python ||
    stop "no usable Python $python_range: ${python_lacks:-none was found (python3, python3-dev," \
      "python3-venv)}. Install that, or name a Python with torch in KBENCH_PYTHON"
}

require_disk() {
  local free
  free=$(df -Pm -- "$1" | awk 'NR == 2 { print $4 }')
  [[ ${free:-0} -ge $2 ]] ||
    stop "$1 has $free MB free but needs $2 MB: free space, or set KBENCH_HOME to another disk"
}

requirements_key() { sha256sum "$root/scripts/requirements.txt" | cut -c 1-12; }

# Sets python to kbench's own, with all packages of requirements.txt, and folder to its build's.
make_venv() {
  require_base_python
  local key version venv marker
  version=$("$base_python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  key=$(requirements_key)
  venv=$kbench_home/venv-$version-$key
  folder=$build_base/py$version-$key
  python=$venv/bin/python
  marker=$venv/.kbench-complete
  [[ -f $marker && -x $python ]] && return 0
  require_disk "$kbench_home" "$kDiskNeededMb"
  build_early
  if ! "$python" -m pip --version >/dev/null 2>&1; then
    run_logged "making a virtual environment" "$base_python" -m venv --clear "$venv"
  fi
  install_requirements "$venv"
  say "checking that torch starts"
  run_logged "importing torch" "$python" -c 'import torch, numpy, einops; torch.rand(3).sum()'
  : >"$marker"
  end_early_build
}

# Line by line, so that an interrupted install goes on there, and the user sees the progress.
install_requirements() {
  local venv=$1 total=0 done=0 line name size started=$SECONDS batch=()
  total=$(grep -cE '^[A-Za-z]' "$root/scripts/requirements.txt")
  while IFS= read -r line; do
    [[ $line =~ ^[A-Za-z] ]] || continue
    done=$((done + 1))
    name=${line%% *}
    size=
    [[ $line == *'# '* ]] && size=" (${line##*# })"
    if [[ -z $size ]]; then
      batch+=("$name")
      continue
    fi
    pip_install "$venv" "${batch[@]}"
    batch=()
    [[ -f $venv/.kbench-has-$name ]] && continue
    say "[$done/$total, $((SECONDS - started)) s] $name$size"
    pip_install "$venv" "$name"
    : >"$venv/.kbench-has-$name"
  done <"$root/scripts/requirements.txt"
  pip_install "$venv" "${batch[@]}"
}

pip_install() {
  local venv=$1
  shift
  [[ $# -gt 0 ]] || return 0
  run_logged "installing ${*:0-1} from PyPI" "$venv/bin/python" -m pip install --no-deps \
    --no-compile --progress-bar off --disable-pip-version-check --retries 5 --timeout 60 "$@"
}

# Uses the Python that KBENCH_PYTHON names, and adds CUDA parts that it lacks.
use_named_python() {
  local answer
  python=$(command -v -- "$KBENCH_PYTHON") ||
    stop "KBENCH_PYTHON names $KBENCH_PYTHON, which is not an executable program"
  answer=$(query "$python")
  python=$(json_field "$answer" python)
  [[ -n $python ]] || stop "KBENCH_PYTHON names $KBENCH_PYTHON, which does not run as Python"
  [[ -n $(json_field "$answer" torch) && -n $(json_field "$answer" libpython) ]] ||
    stop "$python (KBENCH_PYTHON) cannot be used; missing:$(list_problems "$answer")"
  [[ $first == no ]] || say "first use with $python"
  [[ -z $(list_problems "$answer") ]] || add_cuda_parts "$answer"
}

list_problems() { sed -n '/"problems": \[$/,/^ \]/{s/^  "\(.*\)"\(,\{0,1\}\)$/ \1\2/p}' <<<"$1" |
  tr -d '\n'; }

# Installs NVRTC and headers that the named Python and CUDA toolkits lack into kbench's own folder.
add_cuda_parts() {
  local version parts folder
  version=$(json_field "$1" cuda_version)
  case ${version:-13.0} in
    13.0) parts=(nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
      nvidia-cuda-cccl==13.0.85 nvidia-curand==10.4.0.35) ;;
    13.*) parts=("nvidia-cuda-nvrtc==$version.*" "nvidia-cuda-runtime==$version.*"
      "nvidia-cuda-crt==$version.*" "nvidia-cuda-cccl==$version.*" nvidia-curand) ;;
    *) parts=("nvidia-cuda-nvrtc-cu12==$version.*" "nvidia-cuda-runtime-cu12==$version.*"
      "nvidia-cuda-nvcc-cu12==$version.*" "nvidia-cuda-cccl-cu12==$version.*" nvidia-curand-cu12) ;;
  esac
  cuda_root=$kbench_home/cuda-${version:-13.0}
  if [[ ! -f $cuda_root/.kbench-complete ]]; then
    say "adding CUDA parts that $python lacks:$(list_problems "$1") into $cuda_root"
    make_tools_venv
    folder=$cuda_root.partial
    rm -rf -- "$folder"
    run_logged "installing CUDA parts from PyPI" "$tools/bin/python" -m pip install --no-deps \
      --no-compile --progress-bar off --disable-pip-version-check --target "$folder" "${parts[@]}"
    : >"$folder/.kbench-complete"
    rm -rf -- "$cuda_root"
    mv -- "$folder" "$cuda_root"
  fi
}

# --- Build ----------------------------------------------------------------------------------------

# Makes a small venv for build tools and downloads, apart from the one that runs torch.
make_tools_venv() {
  tools=$kbench_home/tools
  "$tools/bin/python" -m pip --version >/dev/null 2>&1 && return 0
  local maker=${base_python:-}
  if [[ -z $maker ]]; then
    find_base_python
    maker=${base_python:-${python:-python3}}
  fi
  run_logged "making a virtual environment" "$maker" -m venv --clear "$tools"
}

require_build_tools() {
  local wanted=()
  if ! command -v "${CXX:-g++}" >/dev/null; then
    stop "no C++ compiler: install g++ 12 or newer, or name one in CXX"
  fi
  have_cmake || wanted+=(cmake==3.31.6)
  command -v ninja >/dev/null || wanted+=(ninja==1.11.1.4)
  [[ ${#wanted[@]} -gt 0 ]] || return 0
  make_tools_venv
  PATH=$tools/bin:$PATH
  if ! have_cmake || ! command -v ninja >/dev/null; then
    say "installing ${wanted[*]} from PyPI into $tools"
    pip_install "$tools" "${wanted[@]}"
  fi
}

# Sets jobs to as many compilers as fit into memory: one takes 2 GB with torch's headers.
build_jobs() {
  local cores memory_mb limit
  cores=$(nproc)
  memory_mb=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  if read -r limit 2>/dev/null </sys/fs/cgroup/memory.max && [[ $limit =~ ^[0-9]+$ ]] &&
    [[ $((limit / 1048576)) -lt $memory_mb ]]; then
    memory_mb=$((limit / 1048576))
  fi
  jobs=$((memory_mb / 2000))
  [[ $jobs -lt $cores ]] || jobs=$cores
  [[ $jobs -ge 1 ]] || jobs=1
}

# Copies ninja's output to the log and reports each tenth of the work.
show_progress() {
  local line last=-1 tenth
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      tenth=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
      [[ $tenth -eq $last || ${BASH_REMATCH[2]} -lt 10 ]] ||
        say "building: $((tenth * 10)) % (${BASH_REMATCH[1]} of ${BASH_REMATCH[2]})"
      last=$tenth
    fi
  done
}

# build FOLDER TARGETS…: configures, with build_options, and builds.
build() {
  local folder=$1 options=()
  shift
  [[ $first == no ]] || say "building in $folder, which takes a few minutes"
  if [[ $mode == full ]]; then
    options=(-DKBENCH_WORKER=ON "-DKBENCH_PYTHON=$python" "-DKBENCH_CUDA_ROOT=${cuda_root:-}")
  else
    options=(-DKBENCH_WORKER=OFF)
  fi
  options+=(${build_options[@]+"${build_options[@]}"})
  # Once a folder builds tests it keeps doing so, because each switch would configure anew.
  [[ $with_tests == ON || ! -f $folder/CMakeCache.txt ]] && options+=("-DKBENCH_TESTS=$with_tests")
  run_logged "configuring the build" cmake -S "$root" -B "$folder" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release "${options[@]}"
  build_jobs
  NINJA_STATUS='[%f/%t] ' ninja -C "$folder" -j "$jobs" "$@" </dev/null 2>&1 | show_progress
  [[ ${PIPESTATUS[0]} -eq 0 ]] ||
    stop "building kbench failed ($(reason_in_log)); its whole output is in $log"
}

# Compiles what needs no torch while torch is downloaded, with the commands of the later build.
build_early() {
  require_build_tools
  build_jobs
  (
    cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKBENCH_WORKER=OFF \
      "-DKBENCH_TESTS=$with_tests" && exec ninja -C "$folder" -j "$jobs" kbench kbench-cc
  ) </dev/null >>"$log" 2>&1 9>&- &
  early_build=$!
}

# Ignores a failure: the later build does the same work again and reports the fault.
end_early_build() {
  [[ -n ${early_build:-} ]] || return 0
  wait "$early_build" || true
  early_build=
}

stop_early_build() { [[ -z ${early_build:-} ]] || kill "$early_build" 2>/dev/null || true; }

# Sets folder to the build folder of mode driver, or of the Python that KBENCH_PYTHON names.
build_folder() {
  if [[ $mode == driver ]]; then
    folder=$build_base/driver
    return
  fi
  [[ -n ${KBENCH_PYTHON:-} ]] || return 0
  local answer id
  answer=$(query "$python" ${cuda_root:+"$cuda_root"}) || stop "$python does not run; see $log"
  id=$(printf '%s' "$python" | cksum)
  folder=$build_base/py$(json_field "$answer" python_version)
  folder+=-torch$(json_field "$answer" torch_version)-${id%% *}
}

# --- The whole ------------------------------------------------------------------------------------

announce() {
  [[ $mode == full && -z ${KBENCH_PYTHON:-} ]] || return 0
  if compgen -G "$kbench_home/venv-*-$(requirements_key)/.kbench-complete" >/dev/null; then
    say "first use: preparing $build_base; torch is already in $kbench_home"
  else
    say "first use: setting up in $kbench_home and $build_base. It needs $kDownload" \
      "and $kDuration. You can interrupt it: the next start continues it"
  fi
}

warn_about_driver() {
  local version
  version=$(grep -oE '[0-9]+\.[0-9]+\.?[0-9]*' /proc/driver/nvidia/version 2>/dev/null | head -n 1)
  if [[ -n $version && -z ${KBENCH_PYTHON:-} && ${version%%.*} -lt 580 ]]; then
    say "warning: driver $version is older than 580, which torch 2.11 for CUDA 13 needs:" \
      "name a Python with a torch for CUDA 12 in KBENCH_PYTHON, or update the driver"
  fi
}

lock_home() {
  mkdir -p -- "$kbench_home" "$build_base" 2>/dev/null
  [[ -w $kbench_home ]] ||
    stop "cannot write to $kbench_home: set KBENCH_HOME to a writable folder"
  [[ -w $build_base ]] ||
    stop "cannot write to $build_base: set KBENCH_HOME to a writable folder, also for the build"
  exec 9>"$kbench_home/setup.lock"
  if ! flock -n 9; then
    say "another set-up is running ($kbench_home/setup.lock); waiting for it"
    flock 9
  fi
}

interrupted() {
  trap - INT TERM
  stop_early_build
  say "set-up interrupted; the next start continues it"
  exit 130
}

# set_up full|driver [start|build|test]: returns when kbench can run, with stamp_bin and python set.
# `driver` leaves out torch and the worker, which suffices to read results and inspect the machine.
# `start` does nothing if the set-up is complete, `build` compiles what has changed since, `test`
# also builds the tests.
set_up() {
  mode=$1
  local purpose=${2:-start}
  with_tests=OFF
  [[ $purpose == test ]] && with_tests=ON
  cuda_root=
  early_build=
  trap interrupted INT TERM
  lock_home
  # Another process may have set up while this one waited for the lock.
  if [[ $purpose == start ]] && stamp_is_current "$mode"; then
    exec 9>&-
    trap - INT TERM
    return 0
  fi
  log=$kbench_home/setup.log
  : >"$log"
  local started=$SECONDS first=no targets=(kbench kbench-cc kbench-worker)
  stamp_path "$mode"
  [[ -f $stamp ]] || first=yes
  [[ $first == no ]] || announce
  install_packages
  if [[ $mode == driver ]]; then
    targets=(kbench)
    python=none
  elif [[ -n ${KBENCH_PYTHON:-} ]]; then
    use_named_python
  else
    make_venv
    warn_about_driver
  fi
  require_build_tools
  build_folder
  [[ $with_tests == ON ]] && targets=(all)
  build "$folder" "${targets[@]}"
  write_stamp "$mode" "$folder/bin" "$python"
  [[ $first == yes ]] && say "set up in $((SECONDS - started)) s"
  exec 9>&-
  trap - INT TERM
}

# summarise_tests OUTPUT STATUS: prints ctest's count as "N passed, N failed"; returns STATUS.
summarise_tests() {
  local line failed total skipped
  # Newer ctests omit the count of failures if it is 0.
  line=$(grep -E '% tests passed(, [0-9]+ tests? failed)? out of [0-9]+' -- "$1" | tail -n 1)
  failed=$(sed -nE 's/.*, ([0-9]+) tests? failed out of.*/\1/p' <<<"$line")
  failed=${failed:-0}
  total=$(sed -nE 's/.* out of ([0-9]+).*/\1/p' <<<"$line")
  skipped=$(grep -cE '\*\*\*Skipped' -- "$1")
  if [[ -z $line || $total -eq 0 ]]; then
    echo "no test ran"
    echo "0 passed, 1 failed"
    return 1
  fi
  [[ $skipped -eq 0 ]] || echo "$skipped skipped, each with its reason above or in ctest -V"
  echo "$((total - failed - skipped)) passed, $failed failed"
  return "$2"
}
