#!/usr/bin/env bash
# Compiles the CUDA kernels (src/main/resources/kernels/*.cu) with nvcc 13.0 into what the artifact ships:
# kernels/compiled/NAME.ptx and NAME.sm_ARCH.cubin. The same sources give the same bytes, wherever the checkout lies.
#   compute/kernels.sh [NAME…]            compiles all, or only NAME.cu
#   compute/kernels.sh --into DIR [NAME…]  leaves the checked-in files alone and writes to DIR
#   compute/kernels.sh --report [NAME…]    prints registers, shared memory and spills of every kernel, writes nothing
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
  --into) into=$2; shift 2 ;;
  --report) report=true; shift ;;
esac
command -v nvcc >/dev/null || { echo "error: nvcc was not found: install the CUDA 13.0 toolkit" >&2; exit 2; }
if [ $# -gt 0 ]; then names=("$@"); else names=(); for f in "$sources"/*.cu; do names+=("$(basename "$f" .cu)"); done; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$into"
cd "$sources"
for name in "${names[@]}"; do
  if $report; then
    nvcc "${flags[@]}" -cubin -arch=sm_90 -Xptxas -v "$name.cu" -o "$work/out" 2>&1 |
      sed -n "s/.*Compiling entry function '\([^']*\)'.*/\1/p; s/.*bytes stack frame, \(.* spill loads\).*/  \1/p; s/ptxas info *: Used/  /p" |
      awk -v file="$name" '/^[^ ]/ {kernel = $0; next} /spill/ {spill = $0; next} {printf "%-14s %-32s%s,%s\n", file, kernel, $0, spill}'
    continue
  fi
  # The name of the compiler's build is no part of the program.
  nvcc "${flags[@]}" -ptx -arch=compute_80 "$name.cu" -o "$work/$name.ptx"
  sed -e "s/^\.version .*/.version $ptx_version/" -e '/^\/\//d' "$work/$name.ptx" >"$into/$name.ptx"
  ptxas -arch=sm_80 "$into/$name.ptx" -o /dev/null
  for architecture in "${architectures[@]}"; do
    nvcc "${flags[@]}" -cubin -arch="sm_$architecture" "$name.cu" -o "$into/$name.sm_$architecture.cubin"
  done
done
