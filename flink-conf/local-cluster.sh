#!/usr/bin/env bash
# A Flink cluster on this machine: a JobManager and TaskManagers as separate processes, with the web UI.
#
#   flink-conf/local-cluster.sh start [--task-managers N] [--slots N] [--gpus N] [--port N] [--ha] [-Dkey=value]…
#   flink-conf/local-cluster.sh flink ARGS…          Flink's own command line: run, list, stop, cancel, savepoint
#   flink-conf/local-cluster.sh status | stop | add taskmanager | add jobmanager
#
# For each, --dir FOLDER names the cluster's folder (target/cluster) and --config FILE its configuration (flink-conf/config.yaml);
# with flink they stand before it.
# FLINK_HOME names a Flink 2.3 distribution; without it Flink's jars are gathered from Maven into target/.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(dirname "$here")
box=$here/box
dir=$root/target/cluster
config=$here/config.yaml

fail() { echo "error: $2" >&2; exit "$1"; }

value_of() { [ $# -ge 2 ] || fail 2 "$1 needs a value"; printf '%s' "$2"; }

arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --dir) dir=$(value_of "$@"); shift 2 ;;
    --config) config=$(value_of "$@"); shift 2 ;;
    flink) break ;; # what follows is Flink's
    *) arguments+=("$1"); shift ;;
  esac
done
dir=$(readlink -m "$dir")

java=java
[ -n "${JAVA_HOME:-}" ] && java=$JAVA_HOME/bin/java

require_java() {
  command -v "$java" >/dev/null || fail 2 "Java was not found: install a JDK of version 17, 21 or 25, or set JAVA_HOME to one"
  local version
  version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
  [ "${version:-0}" -ge 17 ] || fail 2 "Java ${version:-of an unknown version} is too old ($java): Draftmill needs 17, 21 or 25"
}

# The launcher, and Flink's jars unless FLINK_HOME has them.
assemble() {
  local jar=$box/target/draftmill-box.jar
  if [ -f "$jar" ] && [ -d "$gathered/lib" ] && [ -z "$(find "$box/pom.xml" "$box/src/main" "$root/pom.xml" "$here"/log4j*.properties "$here/gpu" -newer "$jar" -print -quit)" ]; then
    return
  fi
  command -v mvn >/dev/null || fail 2 "Maven was not found: install Maven 3.8 or later"
  echo "gathering Flink's jars…" >&2
  local log=$box/target/build.log
  mkdir -p "$box/target"
  if ! (cd "$root" && mvn -q -B --no-transfer-progress -Dstyle.color=never -pl flink-conf/box package \
      -DskipTests -Dspotless.check.skip -Denforcer.skip) >"$log" 2>&1; then
    cat "$log" >&2
    fail 1 "Flink's jars could not be gathered, see above"
  fi
  touch "$jar"
}

flink_version=$(sed -n 's:.*<flink.version>\(.*\)</flink.version>.*:\1:p' "$root/pom.xml")
gathered=$root/target/flink-$flink_version
home=${FLINK_HOME:-$gathered}

launch() {
  require_java
  assemble
  compgen -G "$home/lib/flink-*.jar" >/dev/null || fail 2 "there is no Flink in $home: set FLINK_HOME to a distribution, or unset it to take Flink from Maven"
  exec "$java" -Xmx256m -XX:TieredStopAtLevel=1 -Dlog4j2.level=OFF \
    -cp "$box/target/draftmill-box.jar:$box/target/picocli.jar:$home/lib/*" \
    org.draftmill.box.LocalCluster "$@" --dir "$dir" --home "$home" --config "$config"
}

# Flink's own command line against the running cluster.
flink() {
  [ -f "$dir/conf/client.args" ] || fail 1 "no cluster runs in $dir: start one with flink-conf/local-cluster.sh start"
  compgen -G "$dir/run/*.pid" >/dev/null || fail 1 "no cluster runs in $dir: start one with flink-conf/local-cluster.sh start"
  for argument; do
    case $argument in
      *draftmill-job.jar) [ -f "$argument" ] || fail 2 "$argument is not there: build it with mvn package -DskipTests" ;;
    esac
  done
  # shellcheck disable=SC1091 # written by start
  . "$dir/conf/client.env"
  # The JVM warns of the incubator module on each start.
  exec "$java" "@$dir/conf/client.args" "$@" 2> >(trap '' INT TERM; exec sed -u '1{/^WARNING: Using incubator modules/d}' >&2)
}

case ${1:-} in
  flink) shift; flink "$@" ;;
  *) [ ${#arguments[@]} -gt 0 ] || arguments=(--help); launch "${arguments[@]}" ;;
esac
