import { expect, test } from 'vitest';
import { createTargetReader, withoutPanelParameters } from '../../../src/features/forge/target.ts';

const targets = createTargetReader({ path: '/api/v1', base: '/cgi-bin/panel' });

test.each([
  ['/api/v1/repos/o/r/contents', { mount: '', path: '/repos/o/r/contents', query: '' }],
  ['/cgi-bin/panel/api/v1/repos?x=1', { mount: '/cgi-bin/panel', path: '/repos', query: '?x=1' }],
  ['/api/v1', { mount: '', path: '', query: '' }],
  ['/api/v1//a//b/', { mount: '', path: '//a//b/', query: '' }],
  ['/api/v1/a%2Fb%2fc%252F+;:.', { mount: '', path: '/a%2Fb%2fc%252F+;:.', query: '' }],
  [
    '/api/v1/a?q=a+b%20c&labels=1&labels=2&&x',
    { mount: '', path: '/a', query: '?q=a+b%20c&labels=1&labels=2&&x' },
  ],
  ['/api/v1/a?', { mount: '', path: '/a', query: '?' }],
  ['/api/v1/a...b/..c/d..', { mount: '', path: '/a...b/..c/d..', query: '' }],
  ['/api/v1/a?up=../..', { mount: '', path: '/a', query: '?up=../..' }],
  ['/api/v1/\xe4', { mount: '', path: '/\xe4', query: '' }],
  ['//api/v1/repos', { mount: '', path: '/repos', query: '' }],
  ['/api///v1//a?x', { mount: '', path: '//a', query: '?x' }],
  ['///cgi-bin//panel//api/v1', { mount: '/cgi-bin/panel', path: '', query: '' }],
  ['/api/v1/100%', { mount: '', path: '/100%', query: '' }],
])('%s is read without decoding it', (raw, expected) => {
  expect(targets.owns(raw)).toBe(true);
  expect(targets.read(raw)).toEqual(expected);
});

test.each([
  '/api/v1/../admin',
  '/api/v1/a/..',
  '/api/v1/%2e%2e/x',
  '/api/v1/%2E./x',
  '/api/v1/a%2f..%2fb',
  '/api/v1/a%5c..%5Cb',
  '/api/v1/..;a/b',
  '/api/v1/%252e%252e/x',
  '/api/v1/%25252e%25252e%25252f',
  `/api/v1/%${'25'.repeat(12)}2e`,
  '/api/v1/a\\b',
  '/api/v1/a%00b',
  '/api/v1/a%2500b',
  '/api/v1/a#b',
  '/api/v1/a?b#c',
  '/api/v1/a b',
  '/api/v1/a\tb',
  '/api/v1/a?b\x7f',
])('%j is refused: it could leave the API root, or mean two things', (raw) => {
  expect(targets.owns(raw)).toBe(true);
  expect(targets.read(raw)).toMatch(/^cannot pass the (?:path|query)/);
});

test.each([
  'http://elsewhere/api/v1/x',
  '//elsewhere/api/v1/x',
  '//api/v10/x',
  '//api//v1%2f/x',
  '//x/api/v1',
  '/api/v10/x',
  '/api/v1%2fx',
  '/api%2Fv1/x',
  '/API/v1/x',
  '/api/v1;x/y',
  '*',
  '',
  '/',
  '/x/../api/v1/y',
  'api/v1/x',
])('%j does not belong to the forge half', (raw) => {
  expect(targets.owns(raw)).toBe(false);
  expect(typeof targets.read(raw)).toBe('string');
});

test.each([
  ['?token=t', ''],
  ['?_t=1', ''],
  ['?a=1&token=t&b=2', '?a=1&b=2'],
  ['?token=t&a=1', '?a=1'],
  ['?a=1&_t=123', '?a=1'],
  ['?token=1&token=2&_t', ''],
  ['?t%6fken=t&x', '?x'],
  ['?%5Ft=1', ''],
  ['?a=1;token=t;b=2', '?a=1;b=2'],
  ['?;token=t', ''],
  ['?ref=a?token=t', '?ref=a'],
  ['??token=t&b?', '?b?'],
  ['?a&&token=t&&b', '?a&&&b'],
  [
    '?access_token=t&tokens=1&Token=x&my_t=2&q=token',
    '?access_token=t&tokens=1&Token=x&my_t=2&q=token',
  ],
  ['?q=%zz+%20%2B', '?q=%zz+%20%2B'],
])("of the query %s goes %s, without the panel's token and _t", (query, expected) => {
  expect(withoutPanelParameters(query)).toBe(expected);
});
