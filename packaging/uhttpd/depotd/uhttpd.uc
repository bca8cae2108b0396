{%
'use strict';

/*
 * The relay as uhttpd's own handler (uhttpd-mod-ucode, `ucode_prefix`). uhttpd loads it when it
 * starts, and forks for each request: nothing is executed or compiled for it. uhttpd does not start
 * if this file fails, so whatever can fail is caught here.
 */

const socket = getenv('DEPOTD_SOCKET') || '/var/run/depotd.sock';
const failure = 'Status: 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n' +
	'{"code":503,"msg":"cannot reach depotd: its relay is damaged; install the package again"}';
let fs;
let relay;
try {
	push(REQUIRE_SEARCH_PATH, sourcepath(0, true) + '/../*.uc');
	fs = require('fs');
	relay = require('depotd.relay');
} catch (e) {
	relay = () => uhttpd.send(failure);
}

/*
 * Ends the fork by SIGPIPE, if this ucode has pipes. exit() would first touch whatever uhttpd has
 * loaded, page by page: a fifth of what a request costs. All that was sent is with the kernel, and
 * uhttpd does not look at how a process ended.
 */
function leave() {
	const ends = fs && fs.pipe ? fs.pipe() : null;
	if (!ends) return;
	ends[0].close();
	ends[1].write('.');
	ends[1].flush();
}

global.handle_request = function(env) {
	relay({ env: env, fields: env.headers, put: uhttpd.send, socket: socket });
	leave();
};
