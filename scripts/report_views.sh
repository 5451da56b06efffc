#!/usr/bin/env bash
# Pictures of the views of a report, for people who change it (needs Debian's chromium).
#   scripts/report_views.sh REPORT.html OUTPUT_FOLDER [VIEW…]     VIEW: '#/', '#/3', '#/3/17', '#/compare'
set -euo pipefail
report=$(realpath "$1") out=$2
shift 2
(($#)) || set -- '#/' '#/0' '#/0/0' '#/compare'
mkdir -p "$out"
for view in "$@"; do
  for scheme in light dark; do
    name=$out/view$(tr -c 'a-z0-9\n' '_' <<<"$view")$scheme.png
    dark=()
    [[ $scheme == light ]] || dark=(--blink-settings=preferredColorScheme=0)
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1400,1000 \
      --virtual-time-budget=20000 "${dark[@]}" --screenshot="$name" "file://$report$view" 2>/dev/null
    printf '%s\n' "$name"
  done
done
