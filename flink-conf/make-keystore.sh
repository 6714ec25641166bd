#!/usr/bin/env bash
# Makes the key by which the processes of one Flink cluster, and its clients, know each other, for config-cluster.yaml: a PKCS12 file
# with a self-signed certificate that is its own trust. Copy it to every host, readable by Flink's user only.
#
#   flink-conf/make-keystore.sh internal.p12 [HOST…]        # the password is asked for, or taken from KEYSTORE_PASSWORD
#
# HOST: names or IPv4 addresses under which clients reach the JobManagers, which they compare with the certificate; without any
# those in the file `masters` beside this script, and localhost.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: make-keystore.sh FILE [HOST…]" >&2; exit 2; }
file=$1
shift
[ ! -e "$file" ] || { echo "error: $file exists: remove it, or choose another name" >&2; exit 2; }
hosts=("$@")
if [ ${#hosts[@]} = 0 ]; then
  mapfile -t hosts < <(sed 's/#.*//; s/:.*//; s/[[:space:]]//g; /^$/d' "$(dirname "${BASH_SOURCE[0]}")/masters")
  hosts+=(localhost)
fi
names=()
for host in "${hosts[@]}"; do
  [[ $host =~ ^[0-9.]+$ ]] && names+=("ip:$host") || names+=("dns:$host")
done
if [ -z "${KEYSTORE_PASSWORD:-}" ]; then
  read -rsp "password of the keystore (6 characters or more): " KEYSTORE_PASSWORD
  echo
fi
export KEYSTORE_PASSWORD

umask 077
# RSA, for the cipher suites that Flink allows unless told otherwise (security.ssl.algorithms) take no other key.
keytool -genkeypair -alias flink.internal -storetype PKCS12 -keystore "$file" -storepass:env KEYSTORE_PASSWORD \
  -dname "CN=flink.internal" -ext "SAN=$(IFS=,; echo "${names[*]}")" -keyalg RSA -keysize 3072 -validity 3650
echo "$file: for ${hosts[*]}; set the same password in config.yaml (security.ssl.*-password)"
