#!/bin/sh
# Starts a member of the replica set: writes the key with which members authenticate to a file that only it can read.
set -eu
: "${MONGODB_KEY:?is not set: see .env.example}"
keyfile="${MONGODB_KEYFILE:-/run/tollgate/key}"
umask 077
rm -f "$keyfile"
printf '%s\n' "$MONGODB_KEY" > "$keyfile"
chmod 400 "$keyfile"
unset MONGODB_KEY
exec "${MONGOD:-mongod}" --config "$(dirname "$0")/mongod.conf" --keyFile "$keyfile" "$@"
