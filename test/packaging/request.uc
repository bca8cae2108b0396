'use strict';

/* The relay as uhttpd's handler calls it, for a request that no uhttpd would make. */

const fs = require('fs');
const relay = require('depotd.relay');
const request = json(getenv('REQUEST'));

relay({
	env: request.env,
	fields: request.fields,
	put: (text) => fs.stdout.write(text) && fs.stdout.flush(),
	socket: getenv('DEPOTD_SOCKET'),
});
