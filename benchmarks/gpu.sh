#!/usr/bin/env bash
# What only a GPU can tell, in one go: every operation against the reference, the same under compute-sanitizer, and the time of
# every operation beside its bound. Output also goes to benchmarks/results/gpu.txt.
#   benchmarks/gpu.sh [--peak TFLOPS]   the dense bf16 peak of this GPU, for the share of it (989 for an H200, 312 for an A100)
#   benchmarks/gpu.sh --emulated        a dry run on the emulator of CUDA: needs g++ and no GPU, says nothing about speed
# compute-sanitizer comes with the CUDA toolkit; without it its part is left out and said so.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
emulated=false
arguments=()
case ${1-} in
  --emulated) emulated=true; arguments=(--smoke); shift ;;
  --peak) arguments=(--peak "$2"); shift 2 ;;
esac
[ $# = 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }

mkdir -p benchmarks/results
exec > >(tee benchmarks/results/gpu.txt) 2>&1
failed=0

section() { printf '\n== %s\n' "$1"; }

maven() { mvn -q -B --no-transfer-progress -Dstyle.color=never -Dspotless.check.skip -Denforcer.skip "$@"; }

section "device"
if $emulated; then
  echo "none: the emulator of CUDA"
  emulator=$PWD/compute/target/emulator/whole
  compute/src/test/native/build.sh all "$emulator"
else
  nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.sm,clocks.mem --format=csv
fi

section "every operation against the reference"
profile=(-Pgpu)
$emulated && profile=()
if maven "${profile[@]}" -pl compute -am test -Dtest='Cuda*Test,*OnCudaTest'; then
  echo "all agree"
else
  failed=1
fi

section "compute-sanitizer, on small shapes"
if $emulated; then
  echo "left out: the emulator looks at every access itself"
elif command -v compute-sanitizer >/dev/null; then
  benchmarks/run.sh cuda --smoke >/dev/null # builds
  for tool in memcheck racecheck initcheck synccheck; do
    echo "-- $tool"
    JAVA_TOOL_OPTIONS=-Ddraftmill.poison=true compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 1 \
      benchmarks/run.sh cuda --smoke | tail -n 4 || failed=1
  done
else
  echo "left out: compute-sanitizer was not found"
fi

section "time of every operation"
if $emulated; then
  export CUDA_EMULATOR_DEVICES=1 CUDA_EMULATOR_KERNELS=$emulator LD_LIBRARY_PATH=$emulator
fi
benchmarks/run.sh cuda "${arguments[@]}" || failed=1

exit "$failed"
