// A container engine without containers: says on a unix socket which data root its configuration
// names, until it is ended. CONFIG SOCKET PIDFILE
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [config, socket, pidFile] = process.argv.slice(2);
const root = JSON.parse(readFileSync(config, 'utf8'))['data-root'];
rmSync(socket, { force: true });
createServer((request, response) => {
  const path = request.url.replace(/^\/v[\d.]+/, '').split('?')[0];
  const body = {
    '/info': { DockerRootDir: root, Driver: 'overlay2', LiveRestoreEnabled: false },
    '/containers/json': [],
    '/_ping': 'OK',
  }[path];
  response.statusCode = body === undefined ? 404 : 200;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body ?? { message: 'page not found' }));
}).listen(socket, () => writeFileSync(pidFile, String(process.pid)));
process.on('SIGTERM', () => process.exit(0));
