import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import type { Language } from '../languages/languages.ts';

interface PageSources {
  /** With an empty `style`, module `script`, `data-auth` and `data-languages`, each once. */
  html: string;
  css: string;
  script: string;
  /** `main.auth`: the page shows what goes with it. */
  auth: string;
  /** What the page speaks beside English. */
  languages: readonly Language[];
}

/**
 * In one document: never a script of one version with the markup of another. The policy's hashes
 * (CSP Level 3, section 8.4) let no other run, where `'self'` would let a file of the forge's.
 */
export function createPage({ html, css, script, auth, languages }: PageSources) {
  const filled = fill(fill(html, '<style></style>', css), '<script type="module"></script>', script)
    .replace('data-auth=""', `data-auth="${auth}"`)
    .replace('data-languages=""', () => `data-languages="${attributeOf(languages)}"`);
  /** Of the header Content-Security-Policy: this very script and style run, and nothing else. */
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(css)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
  return { html: filled, policy };
}

function attributeOf(value: unknown): string {
  return JSON.stringify(value).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

function fill(html: string, element: string, content: string): string {
  const at = html.indexOf(element) + element.indexOf('</');
  if (!html.includes(element)) throw new Error(`cannot find ${element} in the page`);
  if (/<\/(?:script|style)/i.test(content)) {
    throw new Error(`cannot put a closing tag into ${element}`);
  }
  return html.slice(0, at) + content + html.slice(at);
}

/** @param packed gzip in base64, as the build writes the pages' sources */
export function unpackText(packed: string): string {
  return gunzipSync(Buffer.from(packed, 'base64')).toString();
}

/** As a policy names a script or a style sheet (CSP Level 3). */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
