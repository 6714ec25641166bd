#!/usr/bin/env bash
# Compiles the CUDA kernels (src/main/resources/kernels/*.cu) with nvcc 13.0 into what the artifact ships: compiled/NAME.ptx,
# and from it compiled/NAME.sm_ARCH.cubin. The same sources give the same bytes, wherever the checkout lies.
#   compute/kernels.sh [NAME…]             compiles all, or only NAME.cu
#   compute/kernels.sh --into DIR [NAME…]  leaves the checked-in files alone, writes PTX and the cubins of sm_80 to DIR
#   compute/kernels.sh --report [NAME…]    compiles nothing; prints registers, shared memory and spills of every kernel
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$here/src/main/resources/kernels
into=$sources/compiled
report=false
architectures=(80 89 90 100 120)
# Without contraction: the sources say where a fused multiply-add is meant.
flags=(-std=c++17 -O3 -fmad=false)
# The oldest PTX that knows sm_80, so that drivers from R525 on take it.
ptx_version=7.0

case ${1-} in
  --into) into=$2; architectures=(80); shift 2 ;;
  --report) report=true; shift ;;
esac
for tool in nvcc ptxas; do
  command -v "$tool" >/dev/null || { echo "error: $tool was not found: install the CUDA 13.0 toolkit" >&2; exit 2; }
done
if [ $# -gt 0 ]; then names=("$@"); else names=(); for f in "$sources"/*.cu; do names+=("$(basename "$f" .cu)"); done; fi

# The headers that a source includes, theirs too, in the order of their names.
headers() {
  local file
  for file in $(sed -n 's/^#include "\(.*\)"/\1/p' "$@" | sort -u); do
    echo "$file"
    headers "$file"
  done | sort -u
}

# Of the source and its headers: who has no nvcc can still see that the compiled file is stale.
checksum() {
  # shellcheck disable=SC2046 # names without blanks
  cat "$1.cu" $(headers "$1.cu") | sha256sum | cut -c1-64
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$sources"
for name in "${names[@]}"; do
  if $report; then
    for architecture in 80 90; do
      ptxas -v -arch="sm_$architecture" "$into/$name.ptx" -o /dev/null 2>&1 |
        awk -v file="$name" -v arch="sm_$architecture" -F"'" '
          /Compiling entry/ {kernel = $2}
          /spill/ {sub(/.*bytes stack frame, /, ""); spill = $0}
          /Used/ {sub(/.*Used /, ""); printf "%-16s %-34s %s: %s, %s\n", file, kernel, arch, $0, spill}'
    done
    continue
  fi
  mkdir -p "$into"
  nvcc "${flags[@]}" -ptx -arch=compute_80 "$name.cu" -o "$work/$name.ptx"
  {
    echo "// sources: $(checksum "$name")"
    # The name of the compiler's build is no part of the program.
    sed -e "s/^\.version .*/.version $ptx_version/" -e '/^\/\//d' "$work/$name.ptx"
  } >"$into/$name.ptx"
  for architecture in "${architectures[@]}"; do
    ptxas -O3 -arch="sm_$architecture" "$into/$name.ptx" -o "$into/$name.sm_$architecture.cubin"
  done
done
