{%
'use strict';

/*
 * uhttpd's handler of iStore's own addresses below LuCI's (main.istore_paths): its calls go to
 * depotd, its page to LuCI. It comes before LuCI's own in uhttpd's list, whose prefix is shorter.
 */

loadfile(sourcepath(0, true) + '/uhttpd.uc')();

const relay = global.handle_request;
const luci = '/usr/share/ucode/luci/uhttpd.uc';
let targetOf;
try {
	targetOf = require('depotd.istore_path');
} catch (e) {
	targetOf = () => null;
}

global.handle_request = function(env) {
	const target = targetOf(env.REQUEST_URI || '');
	if (target != null) {
		env.REQUEST_URI = target;
		return relay(env);
	}
	/* In the fork of this one request: nobody else waits for it, or pays for it. */
	loadfile(luci)();
	return global.handle_request(env);
};
