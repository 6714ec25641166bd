#!/usr/bin/env bash
# Makes the key by which the processes of one Flink cluster know each other, for config-cluster.yaml: a PKCS12 file with a
# self-signed certificate that is its own trust. Copy it to every host, readable by Flink's user only.
#
#   flink-conf/make-keystore.sh internal.p12        # the password is asked for, or taken from KEYSTORE_PASSWORD
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: make-keystore.sh FILE" >&2; exit 2; }
file=$1
[ ! -e "$file" ] || { echo "error: $file exists: remove it, or choose another name" >&2; exit 2; }
if [ -z "${KEYSTORE_PASSWORD:-}" ]; then
  read -rsp "password of the keystore (6 characters or more): " KEYSTORE_PASSWORD
  echo
fi
export KEYSTORE_PASSWORD

umask 077
keytool -genkeypair -alias flink.internal -storetype PKCS12 -keystore "$file" -storepass:env KEYSTORE_PASSWORD \
  -dname "CN=flink.internal" -keyalg EC -groupname secp256r1 -validity 3650
echo "$file: set the same password in config.yaml (security.ssl.*-password)"
