import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { unchanging, type Unchanging } from '../../http/respond.ts';
import { withTag } from '../../http/etag.ts';
import { LANGUAGES } from '../../languages/languages.ts';
import { createPage, unpackText } from '../../panel/create-page.ts';
import packedHtml from '../../panel/index.html';
import packedScript from '../../panel/panel.client.js';
import packedStyle from '../../panel/styles/page.css';

/** The page as it is sent: gzip once for all, and plain for the few who do not read that. */
export type ServedPage = Awaited<ReturnType<typeof createServedPage>>;

const compress = promisify(gzip);

/** @param auth `main.auth` */
export async function createServedPage(auth: string) {
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
    /** Value of the header Content-Security-Policy. */
    policy,
    compressed: withTag(body),
    /** For clients without gzip: made for the first of them, and kept. */
    plain: (): Unchanging => (kept ??= unchanging(build().html)),
  };
}
