import { expect, test } from 'vitest';

import { createPage } from '../../src/panel/create-page.ts';

const html = '<style></style><script type="module"></script>';
const languages = [{ code: 'xx', name: 'A "name"', tags: '^xx' }];

test('style and script stand in the page as they are', () => {
  const page = createPage({ html, css: 'a{}', script: "'$&'", auth: 'none', languages });

  expect(page.html).toBe('<style>a{}</style><script type="module">\'$&\'</script>');
});

test('a script that would end its own element is refused', () => {
  expect(() =>
    createPage({ html, css: '', script: '"</script>"', auth: 'none', languages }),
  ).toThrow('cannot put a closing tag into <script type="module"></script>');
});

test('a page without a place for the style is refused', () => {
  expect(() => createPage({ html: '<p>', css: '', script: '', auth: 'none', languages })).toThrow(
    'cannot find <style></style> in the page',
  );
});

test('the page knows which languages there are', () => {
  const marked = `<html data-languages="">${html}`;

  const page = createPage({ html: marked, css: '', script: '', auth: 'none', languages });

  expect(page.html).toContain(
    'data-languages="[{&quot;code&quot;:&quot;xx&quot;,&quot;name&quot;:&quot;A \\&quot;name\\&quot;&quot;,&quot;tags&quot;:&quot;^xx&quot;}]"',
  );
});
