'use strict';
// ADDRESS MOST: asks ADDRESS (`HOST PORT` or `unix PATH`) for /healthz, and ends with 0 if a daemon
// that has run for MOST seconds at most says that it is well.
const [address, most] = process.argv.slice(2);
const at = address.indexOf(' ');
const rest = address.slice(at + 1);
const target = address.startsWith('unix ')
  ? { socketPath: rest }
  : { host: address.slice(0, at), port: Number(rest) };
const fail = () => process.exit(1);
setTimeout(fail, 3000);

const judge = (status, body) => {
  try {
    const isWell = status === 200 && JSON.parse(body).uptime_s <= Number(most) + 1;
    process.exit(isWell ? 0 : 1);
  } catch {
    fail();
  }
};
require('node:http')
  .get({ ...target, path: '/healthz', headers: { host: 'localhost' } }, (response) => {
    let body = '';
    response.on('data', (piece) => {
      if (body.length < 65536) body += piece;
    });
    response.on('end', () => judge(response.statusCode, body));
  })
  .on('error', fail);
