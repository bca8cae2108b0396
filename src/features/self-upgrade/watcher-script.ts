/**
 * The text that takes the daemon's package from one version to the next and watches over it, in a
 * shell of its own, since the daemon is what is replaced. It stands beside the kept package, so
 * that it can be run again after a power cut: `sh watch.sh boot`, which an init script calls while
 * `pending` is there. Every value is read from the file `settings`, one a line: nothing is pasted
 * into the text. opkg writes its status file last: an upgrade cut off before that leaves the old
 * version on record, with files of either version and its own list of them gone or new. The old
 * package then goes over whatever is there; its configuration is the owner's, as it was before.
 * Where one of them answers in the end nothing is left of the folder; else the old package stays
 * for its owner. A daemon counts as the new one when it has run for less time than the upgrade, and
 * as healthy when it answers three times in a row.
 */
export const WATCH_SCRIPT = `#!/bin/sh
trap : INT TERM HUP
folder=\${0%/*}
{ read -r package; read -r old; read -r status; read -r limit; read -r node; read -r address; read -r root; } <"$folder/settings" || exit 1
set -- "$1"
[ -z "$root" ] || set -- "$1" --offline-root "$root" --force-postinstall
mode=$1; shift
info=\${status%/*}/info

now() { read -r up rest </proc/uptime; echo "\${up%%.*}"; }
version() { awk -v name="$package" '$1 == "Package:" { is = ($2 == name) } is && $1 == "Version:" { print $2 }' "$status"; }
whole() { [ -f "$info/$package.list" ] && grep -Fqx "Version: $old" "$info/$package.control"; }
finish() { rm -f "$folder/pending"; [ "$1" = 5 ] || rm -rf "$folder"; echo "depotd: $2"; exit "$1"; }

healthy() {
  deadline=$(($(now) + limit)); good=0
  while [ "$(now)" -lt "$deadline" ]; do
    if "$node" "$folder/probe.cjs" "$address" $(($(now) - $1)); then good=$((good + 1)); else good=0; fi
    [ "$good" -lt 3 ] || return 0
    sleep 1
  done
  return 1
}

began=$(now)
if [ "$mode" = boot ]; then began=0; else opkg "$@" upgrade -- "$package"; fi
if [ -z "$(version)" ] && cp "\${folder%/*}/opkg-status.before" "$status.new"; then mv "$status.new" "$status"; fi
if [ "$(version)" = "$old" ]; then
  if whole && healthy 0; then finish 3 "$package stays at $old"; fi
  echo "depotd: $package $old is not whole or does not answer: its files are put back"
  opkg "$@" install --force-reinstall --force-overwrite --force-maintainer -- "$folder/old.ipk"
  if healthy 0; then finish 3 "$package stays at $old"; fi
  finish 5 "$package $old does not answer"
fi
if healthy "$began"; then finish 0 "$package $(version) answers"; fi
echo "depotd: $package $(version) has not answered for $limit s: $old is put back"
began=$(now)
opkg "$@" install --force-downgrade -- "$folder/old.ipk"
[ "$(version)" = "$old" ] || finish 5 "$package $old could not be put back"
if healthy "$began"; then finish 4 "$package $old is back and answers"; fi
finish 5 "$package $old is back, but does not answer either"
`;

/**
 * Asks ADDRESS (\`HOST PORT\` or \`unix PATH\`) for /healthz: 0 where a daemon that has run for
 * MOST seconds at most says that it is well.
 */
export const PROBE_SCRIPT = `'use strict';
const [address, most] = process.argv.slice(2);
const at = address.indexOf(' ');
const place = address.slice(at + 1);
const target = address.startsWith('unix ') ? { socketPath: place } : { host: address.slice(0, at), port: Number(place) };
const fail = () => process.exit(1);
setTimeout(fail, 3000);
require('node:http').get({ ...target, path: '/healthz', headers: { host: 'localhost' } }, (response) => {
  let body = '';
  response.on('data', (piece) => { if (body.length < 65536) body += piece; });
  response.on('end', () => {
    try {
      process.exit(response.statusCode === 200 && JSON.parse(body).uptime_s <= Number(most) + 1 ? 0 : 1);
    } catch {
      fail();
    }
  });
}).on('error', fail);
`;
