#!/usr/bin/env bash
# What only a GPU can tell, in one go of about ten minutes: every operation against the reference, the time of every operation
# beside its bound and beside cuBLAS and PyTorch, the rate of a target and of a drafter at the shape of Qwen3-8B, and the
# operations once more under compute-sanitizer. All output also goes to benchmarks/results/gpu.txt; goals come last.
#   benchmarks/gpu.sh [--layers N]   of the target's 36 layers, 12 if nothing is said
#   benchmarks/gpu.sh --emulated     a dry run on the emulator of CUDA with tiny shapes: needs g++ and no GPU, says nothing about speed
# PYTHON names a python with torch and transformers (python3). What is not there is left out and said so: cuBLAS 12, which is
# also looked for among that python's packages; PyTorch; flash-attn; compute-sanitizer, which comes with the CUDA toolkit.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
emulated=false
layers=(--layers 12)
smoke=()
case ${1-} in
  --emulated) emulated=true; layers=(--layers 6); smoke=(--smoke); shift ;;
  --layers) layers=(--layers "$2"); shift 2 ;;
esac
[ $# = 0 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }

results=benchmarks/results
python=${PYTHON:-python3}
mkdir -p "$results"
rm -f "$results"/{torch,cuda,models}.json "$results"/gpu-*.log
exec > >(tee "$results/gpu.txt") 2>&1
begin=$SECONDS
failed=()

section() { printf '\n== %s (after %d s)\n' "$1" $((SECONDS - begin)); }

# The longest that a part may take, its name, and what it runs.
part() {
  local limit=$1 name=$2
  shift 2
  timeout "$limit" "$@" 2>&1 | tee "$results/gpu-$name.log" || failed+=("$name")
}

maven() { mvn -q -B --no-transfer-progress -Dstyle.color=never -Dspotless.check.skip -Denforcer.skip "$@"; }
export -f maven

has() { "$python" -c "import $1" 2>/dev/null; }

section "device"
if $emulated; then
  echo "none: the emulator of CUDA"
  emulator=$PWD/compute/target/emulator/whole
  compute/src/test/native/build.sh all "$emulator"
else
  nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.sm,clocks.mem --format=csv
  if ! ldconfig -p | grep -q libcublas.so.12 && has nvidia.cublas; then
    export LD_LIBRARY_PATH=$("$python" -c 'import nvidia.cublas; print(list(nvidia.cublas.__path__)[0])')/lib:${LD_LIBRARY_PATH-}
    echo "cuBLAS is looked for in ${LD_LIBRARY_PATH%%:*}"
  fi
fi

section "every operation against the reference"
profile=-Pgpu
$emulated && profile=-P-gpu
part 300 correctness bash -c "maven $profile -pl compute -am test -Dtest='Cuda*Test,Cublas*Test,*OnCudaTest' && echo 'all agree'"

if $emulated; then
  export CUDA_EMULATOR_DEVICES=1 CUDA_EMULATOR_KERNELS=$emulator LD_LIBRARY_PATH=$emulator
fi

section "PyTorch"
if has torch && has transformers; then
  part 150 torch env -u LD_LIBRARY_PATH "$python" benchmarks/torch_models.py "${smoke[@]}" "${layers[@]}"
else
  echo "left out: $python has no torch or no transformers"
fi

section "time of every operation"
part 150 operations benchmarks/run.sh cuda "${smoke[@]}"

section "target and drafter"
part 180 models benchmarks/run.sh models "${smoke[@]}" "${layers[@]}"

section "compute-sanitizer, on small shapes"
if $emulated; then
  echo "left out: the emulator looks at every access itself"
elif command -v compute-sanitizer >/dev/null; then
  export JAVA_TOOL_OPTIONS="-Ddraftmill.poison=true -Ddraftmill.benchmarks.results=$(mktemp -d)"
  for tool in memcheck racecheck initcheck synccheck; do
    echo "-- $tool"
    part 60 "$tool" compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 1 benchmarks/run.sh cuda --smoke \
      >/dev/null
    tail -n 4 "$results/gpu-$tool.log"
  done
else
  echo "left out: compute-sanitizer was not found"
fi

section "goals"
if $emulated; then
  echo "none: tiny shapes"
else
  cat "$results"/gpu-{operations,models}.log | grep -E ' wanted at (least|most): ' || echo "none was measured"
fi

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nfailed: %s\n' "${failed[*]}"
  exit 1
fi
printf '\nall parts ran\n'
