#!/usr/bin/env bash
# Runs a benchmark: prints a table and writes benchmarks/results/NAME.json.
#   benchmarks/run.sh NAME [--smoke]
# NAME is that of a class org.draftmill.benchmarks.NameBenchmark; --smoke makes a short run that shows only that it works.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

name=${1:-}
sources=benchmarks/src/main/java/org/draftmill/benchmarks
if [[ ! $name =~ ^[a-z]+$ || ! -f $sources/${name^}Benchmark.java ]]; then
  known=$(cd "$sources" && printf '%s\n' *Benchmark.java | sed 's/Benchmark\.java$//' | tr '[:upper:]' '[:lower:]' | paste -sd '|')
  echo "usage: benchmarks/run.sh $known [--smoke]" >&2
  exit 2
fi
shift

# Heap of the benchmark's own JVM; what claims to do with less starts a JVM with less.
declare -A heaps=([balance]=6g [checkpoint]=4g [cuda]=8g [dataplane]=4g [models]=24g [reduce]=4g)

stamp=benchmarks/target/benchmarks.built
modules=(compute corpus serializers operators job benchmarks)
if [ ! -f "$stamp" ] || [ -n "$(find pom.xml "${modules[@]/%//pom.xml}" "${modules[@]/%//src/main}" -newer "$stamp" -print -quit)" ]; then
  echo "building…" >&2
  mkdir -p benchmarks/target
  if ! mvn -q -B --no-transfer-progress -Dstyle.color=never -pl benchmarks -am package \
      -DskipTests -Dspotless.check.skip -Denforcer.skip -Ddraftmill.shade.skip=true >benchmarks/target/build.log 2>&1; then
    cat benchmarks/target/build.log >&2
    echo "error: the build failed" >&2
    exit 1
  fi
  touch "$stamp"
fi

options=$(sed -n 's:.*<draftmill.jvm.options>\(.*\)</draftmill.jvm.options>.*:\1:p' pom.xml)
# The JVM warns of the incubator module on each start.
# shellcheck disable=SC2086 # options are words
exec java $options -Xmx"${heaps[$name]:-2g}" \
  -cp "benchmarks/target/classes:$(cat benchmarks/target/benchmarks.classpath):$(cat benchmarks/target/flink.classpath)" \
  "org.draftmill.benchmarks.${name^}Benchmark" "$@" \
  2> >(exec sed -u '/^WARNING: Using incubator modules/d' >&2)
