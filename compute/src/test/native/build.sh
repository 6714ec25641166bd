#!/usr/bin/env bash
# Compiles the emulator of CUDA with g++.
#   build.sh driver DIR             DIR/libcuda.so.1, which stands in for the driver's, and DIR/libcublas.so.12
#   build.sh kernels FILE.cu DIR    DIR/FILE.so, for the driver in DIR or in the folder named by EMULATOR_DRIVER
#   build.sh all DIR                the driver and all kernels: any program then runs on emulated GPUs with
#                                   LD_LIBRARY_PATH=DIR CUDA_EMULATOR_KERNELS=DIR CUDA_EMULATOR_DEVICES=1 [CUDA_EMULATOR_RACES=0]
# JAVA_HOME says where jni.h is found, else the java on the path.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$here/../../main/resources/kernels
warnings=(-Wall -Wextra -Werror)

driver() {
  local into=$1 java=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
  local pids=() objects=() name
  mkdir -p "$into"
  for name in cublas control copies device_calls driver fibers image memory modules peers streams unsupported; do
    [ $name = cublas ] || objects+=("$into/$name.o")
    g++ -std=c++17 -O2 "${warnings[@]}" -fPIC -fvisibility=hidden -I"$java/include" -I"$java/include/linux" \
      -c "$here/$name.cpp" -o "$into/$name.o" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
  g++ -shared -Wl,-soname,libcuda.so.1 -o "$into/libcuda.partial" "${objects[@]}" -ldl
  # JCublas2 asks for symbols of the version libcublas.so.12; those that are not there are missed when they are called.
  g++ -shared -Wl,-soname,libcublas.so.12 -Wl,--version-script="$here/cublas.map" -Wl,-rpath,'$ORIGIN' \
    -o "$into/libcublas.so.12" "$into/cublas.o" "$into/libcuda.partial"
  mv "$into/libcuda.partial" "$into/libcuda.so.1"
}

kernels() {
  local source=$1 into=$2 name
  name=$(basename "$source" .cu)
  mkdir -p "$into"
  {
    echo "#include \"$(readlink -f "$source")\""
    tr '\n' ' ' <"$source" |
      grep -oE '__global__ +(__launch_bounds__\([^)]*\) +)?void +(__launch_bounds__\([^)]*\) +)?[A-Za-z0-9_]+ *\(' |
      sed -E 's/ *\($//; s/.* //; s/.*/EMULATOR_KERNEL(&)/' | paste -sd , | sed 's/.*/EMULATOR_KERNELS(&)/'
  } >"$into/$name.cpp"
  # Accesses are reported one by one: none is merged, none is made for several values at once. Indices of arrays and
  # widths of shifts are checked too.
  g++ -std=c++17 -O2 -march=native -ffp-contract=off -fno-tree-vectorize -fno-store-merging -fsanitize=thread,bounds-strict,shift -fno-sanitize-recover=all \
    "${warnings[@]}" -Wno-unknown-pragmas -Wno-sign-compare -Wno-unused-parameter -fPIC -fvisibility=hidden -fno-gnu-unique \
    -include "$here/device_language.h" -include "$here/kernel_library.h" -I"$sources" -c "$into/$name.cpp" -o "$into/$name.o"
  g++ -shared -o "$into/$name.partial" "$into/$name.o" "${EMULATOR_DRIVER:-$into}/libcuda.so.1"
  mv "$into/$name.partial" "$into/$name.so"
}

case ${1-} in
  driver) driver "$2" ;;
  kernels) kernels "$2" "$3" ;;
  all)
    driver "$2"
    for source in "$sources"/*.cu; do kernels "$source" "$2"; done
    ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
