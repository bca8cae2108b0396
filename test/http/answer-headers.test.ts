import { expect, test } from 'vitest';

import { createServedPage } from '../../src/features/page/served-page.ts';
import { daemonOfFile } from '../support/daemon-of-file.ts';

const daemon = daemonOfFile();

test.each(['/metrics', '/healthz', '/cgi-bin/panel/openapi.json'])(
  'no browser takes %s for another type than it says',
  async (path) => {
    const { headers } = await daemon.get(path);

    expect(headers.get('x-content-type-options')).toBe('nosniff');
  },
);

test.each(['admin/store/feeds', 'admin/store/installed', 'admin/store/available'])(
  'the list %s is not sent again to who has it',
  async (path) => {
    const etag = (await daemon.get(path)).headers.get('etag') ?? '';

    expect(etag).not.toBe('');
    expect((await daemon.get(path, { 'if-none-match': etag })).status).toBe(304);
  },
);

test('the page for those who read no gzip is built once', async () => {
  const { plain } = await createServedPage('none');

  expect(plain()).toBe(plain());
});
