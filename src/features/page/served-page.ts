import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { unchanging, type Unchanging } from '../../http/respond.ts';
import { etagOf } from '../../http/etag.ts';
import { LANGUAGES } from '../../languages/languages.ts';
import { createPage } from '../../panel/create-page.ts';
import packedHtml from '../../panel/index.html';
import packedScript from '../../panel/panel.client.js';
import packedStyle from '../../panel/styles/page.css';
import { unpackText } from '../../panel/unpack-text.ts';

/** The page as it is sent: gzip once for all, and plain for the few who do not read that. */
export interface ServedPage {
  /** Value of the header Content-Security-Policy. */
  policy: string;
  compressed: Unchanging;
  /** Plain page for clients without gzip, made for the first of them, and kept. */
  plain: () => Unchanging;
}

const compress = promisify(gzip);

/** @param auth `main.auth` */
export async function createServedPage(auth: string): Promise<ServedPage> {
  const build = (): ReturnType<typeof createPage> =>
    createPage({
      html: unpackText(packedHtml),
      css: unpackText(packedStyle),
      script: unpackText(packedScript),
      auth,
      languages: LANGUAGES,
    });
  const { html, policy } = build();
  const body = new Uint8Array(await compress(html, { level: 9 }));
  let kept: Unchanging | undefined;
  return {
    policy,
    compressed: { body, etag: etagOf(body) },
    plain: () => (kept ??= unchanging(build().html)),
  };
}
