#!/usr/bin/env bash
# Pictures of the views of a report, light, dark and on a screen of 420 pixels, for people who change it (needs
# Debian's chromium).
#   scripts/report_views.sh REPORT.html OUTPUT_FOLDER [VIEW…]     VIEW: '#/', '#/3', '#/3/17', '#/compare'
set -euo pipefail
report=$(realpath "$1") out=$2
shift 2
(($#)) || set -- '#/' '#/0' '#/0/0' '#/compare'
mkdir -p "$out"
for view in "$@"; do
  for look in light dark narrow; do
    name=$out/view$(tr -c 'a-z0-9\n' '_' <<<"$view")$look.png
    size=1400,1000 dark=()
    [[ $look != dark ]] || dark=(--blink-settings=preferredColorScheme=0)
    [[ $look != narrow ]] || size=420,1800
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=$size \
      --virtual-time-budget=20000 "${dark[@]}" --screenshot="$name" "file://$report$view" 2>/dev/null
    printf '%s\n' "$name"
  done
done
