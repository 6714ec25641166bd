#!/usr/bin/env bash
# Prints, as Markdown, what is known of the cuda backend's operations and kernels: error against the reference and time of the
# contract test on the emulator (or, with --gpu, on the GPU), registers and spills by ptxas, sizes of PTX and cubins.
#   compute/cuda-table.sh [--gpu]
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
profile=-P-gpu
[ "${1-}" = --gpu ] && profile=-Pgpu
table=$PWD/compute/target/cuda-table.md
compiled=compute/src/main/resources/kernels/compiled

mvn -q -B --no-transfer-progress -Dstyle.color=never "$profile" -pl compute -am test -Dtest=CudaContractTest \
  -Dsurefire.failIfNoSpecifiedTests=false -Ddraftmill.table="$table" >&2
echo "## Operations against the reference"
echo
cat "$table"

printf '\n## Kernels by ptxas\n\n| family | kernel | registers sm_80 / sm_90 | bytes spilled sm_80 / sm_90 | static shared memory |\n| --- | --- | --- | --- | --- |\n'
compute/kernels.sh --report | awk '
  {
    kernel = $1 " | " $2; arch = substr($3, 1, 5); registers[kernel, arch] = $4
    spill[kernel, arch] = 0; if (match($0, /[0-9]+ bytes spill stores/)) spill[kernel, arch] = substr($0, RSTART, RLENGTH) + 0
    if (match($0, /[0-9]+ bytes smem/)) shared[kernel] = substr($0, RSTART, RLENGTH) + 0
    if (!(kernel in seen)) { seen[kernel] = 1; order[n++] = kernel }
  }
  END {
    for (i = 0; i < n; i++) {
      k = order[i]
      printf "| %s | %s / %s | %s / %s | %d |\n", k, registers[k, "sm_80"], registers[k, "sm_90"], spill[k, "sm_80"], spill[k, "sm_90"], shared[k]
    }
  }'

printf '\n## Sizes in KB\n\n| family | PTX | sm_80 | sm_89 | sm_90 | sm_100 | sm_120 |\n| --- | --- | --- | --- | --- | --- | --- |\n'
for ptx in "$compiled"/*.ptx; do
  name=$(basename "$ptx" .ptx)
  printf '| %s |' "$name"
  for file in "$ptx" "$compiled/$name".sm_{80,89,90,100,120}.cubin; do printf ' %d |' $((($(stat -c %s "$file") + 1023) / 1024)); done
  echo
done
printf '| all |'
for ending in ptx sm_{80,89,90,100,120}.cubin; do printf ' %d |' $((($(cat "$compiled"/*."$ending" | wc -c) + 1023) / 1024)); done
echo
