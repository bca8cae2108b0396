'use strict';

/* What the daemon is asked for in the place of one of LuCI's addresses. */

const fs = require('fs');
const targetOf = require('depotd.istore_path');
const target = targetOf(json(getenv('REQUEST')).target);

fs.stdout.write(target == null ? '' : target);
fs.stdout.flush();
