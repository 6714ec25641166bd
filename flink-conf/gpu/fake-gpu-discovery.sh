#!/usr/bin/env bash
# A discovery script for Flink's GPU plugin on machines without a GPU: as many indices as it is asked for. Flink then counts and
# hands out GPUs as on a real host, and `device: auto` computes on the CPU.
#
#   external-resource.gpu.param.discovery-script.path: …/fake-gpu-discovery.sh
#   external-resource.gpu.param.discovery-script.args: "--first 8"      # optional: indices 8, 9, … for a second TaskManager on the machine
set -euo pipefail

usage="usage: fake-gpu-discovery.sh AMOUNT [--first INDEX]"
number() {
  [[ $1 =~ ^[0-9]+$ ]] || { echo "error: '$1' is not a number; $usage" >&2; exit 1; }
}

[ $# -ge 1 ] || { echo "$usage" >&2; exit 1; }
amount=$1
shift
first=0
while [ $# -gt 0 ]; do
  case $1 in
    null) shift ;; # what Flink passes where no arguments are configured
    --first) [ $# -ge 2 ] || { echo "$usage" >&2; exit 1; }; first=$2; shift 2 ;;
    *) echo "error: unknown argument '$1'; $usage" >&2; exit 1 ;;
  esac
done
number "$amount"
number "$first"
[ "$amount" -gt 0 ] || exit 0
seq -s , "$first" $((first + amount - 1))
