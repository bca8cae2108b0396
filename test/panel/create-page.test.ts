import { expect, test } from 'vitest';

import { createPage } from '../../src/panel/create-page.ts';

const html = '<style></style><script type="module"></script>';

test('style and script stand in the page as they are', () => {
  const page = createPage({ html, css: 'a{}', script: "'$&'", auth: 'none' });

  expect(page.html).toBe('<style>a{}</style><script type="module">\'$&\'</script>');
});

test('a script that would end its own element is refused', () => {
  expect(() => createPage({ html, css: '', script: '"</script>"', auth: 'none' })).toThrow(
    'cannot put a closing tag into <script type="module"></script>',
  );
});

test('a page without a place for the style is refused', () => {
  expect(() => createPage({ html: '<p>', css: '', script: '', auth: 'none' })).toThrow(
    'cannot find <style></style> in the page',
  );
});
