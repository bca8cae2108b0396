import { expect, test } from 'vitest';

import { reasonOf } from '../src/errors.ts';

test.each([
  [{ syscall: 'open', path: '/disk/folder/file.new' }, '/disk/folder'],
  [{ syscall: 'mkdir', path: '/disk/folder' }, '/disk'],
  [{ syscall: 'access', path: '/disk' }, '/disk'],
  [{ syscall: 'chown', path: '/disk' }, '/disk'],
  [{ syscall: 'utime', path: '/disk' }, '/disk'],
  [{ syscall: 'copyfile', path: '/elsewhere/file', dest: '/disk/folder/file' }, '/disk/folder'],
  [{ syscall: 'symlink', path: '../elsewhere', dest: '/disk/folder/file' }, '/disk/folder'],
  [{ syscall: 'link', path: '/disk/other/file', dest: '/disk/folder/file' }, '/disk/folder'],
])('what a read-only disk refuses, such as %j, names the place on it', (call, place) => {
  const error = Object.assign(new Error('EROFS'), { code: 'EROFS', ...call });

  expect(reasonOf(error)).toBe(`${place} is on a file system that is read-only`);
});
