import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands for the panel's web server: LuCI, which has the pages of apps, is not there. */
export interface AppPages {
  /** UCI's text of where it listens, as uhttpd has it. */
  config: string;
  close: () => Promise<void>;
}

export async function startAppPages(): Promise<AppPages> {
  const server = createServer((request, response) => {
    const [, app] =
      /^\/cgi-bin\/luci\/admin\/services\/([a-z0-9-]+)$/.exec(request.url ?? '') ?? [];
    response.writeHead(app === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(
      app === undefined ? 'There is no such page.' : `On a device, this is the page of ${app}.`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    config: `config uhttpd 'main'\n\tlist listen_http '127.0.0.1:${port}'\n`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
