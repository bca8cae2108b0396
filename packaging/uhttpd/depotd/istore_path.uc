'use strict';

/* iStore's page calls LuCI's addresses, where LuCI's cookie comes along. */

const FROM = '/cgi-bin/luci';
const TO = '/cgi-bin/panel';
const CALLS = ['/admin/store/', '/admin/system/tasks'];
/* The page itself is LuCI's, and so is what leads to it. */
const PAGES = ['/admin/store/pages', '/admin/store/dev'];

function isBelow(path, root) {
	const end = substr(path, length(root), 1);
	return substr(path, 0, length(root)) == root && (end == '' || end == '/');
}

/* What the daemon is asked for in the place of a target of LuCI's; null if it is LuCI's own. */
function targetOf(target) {
	const rest = substr(target, length(FROM));
	const path = split(rest, '?')[0];
	if (path == '/admin/store' || path == CALLS[0]) return null;
	for (let at = 0; at < length(PAGES); at++) if (isBelow(path, PAGES[at])) return null;
	const isCall = substr(path, 0, length(CALLS[0])) == CALLS[0] || isBelow(path, CALLS[1]);
	return substr(target, 0, length(FROM)) == FROM && isCall ? TO + rest : null;
}

return targetOf;
