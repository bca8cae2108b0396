import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

import { expect, test } from 'vitest';

import { completionScript } from '../src/cli/usage/completion.ts';
import { runCommand } from './device/command.ts';
import { filesBelow, readSource, REPOSITORY } from './source-tree.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

/**
 * What a device's shell can do and shellcheck's dialects cannot: busybox's ash, like dash, has
 * `local`, and it has descriptors beyond 9, one of which procd's functions use. rc.common reads
 * variables of the init script.
 */
const EXCEPTIONS: Record<string, readonly string[]> = {
  'init/depotd.init': ['SC2034', 'SC3023'],
  'packaging/uhttpd/uhttpd-handler': ['SC3023'],
};

/** Its programs are made of the commands and their options. */
const MADE = 'src/cli/usage/completion.ts';

const programs = ['src', 'init', 'packaging'].flatMap(filesBelow).filter(isShell);

test('there are programs to check', () => {
  expect(programs).toEqual(
    expect.arrayContaining([
      'init/depotd.init',
      'packaging/openwrt/prerm-pkg',
      'packaging/openwrt/postrm',
      'src/device/holder.sh',
      'src/device/on-terminal.sh',
      'src/features/container-data/rsync/passes.sh',
      'src/features/self-upgrade/watch.sh',
    ]),
  );
});

test.each(programs)('shellcheck finds nothing in %s', async (path) => {
  const excluded = EXCEPTIONS[path] ?? [];
  const words = ['shellcheck', '--shell=dash', '--severity=warning', '--format=gcc'] as const;
  const exclusion = excluded.length === 0 ? [] : [`--exclude=${excluded.join(',')}`];

  const outcome = await runCommand([...words, ...exclusion, path], { cwd: REPOSITORY });

  expect(outcome).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('no source has a shell program in a text', () => {
  const shell = /^\s*(?:fi|done|esac|then|trap .*[A-Z]{3,4}|set -- .*)\s*;?$/m;
  const texts = filesBelow('src').filter((path) => path.endsWith('.ts') && hasText(path, shell));
  expect(texts.filter((path) => path !== MADE)).toEqual([]);
});

test('shellcheck finds nothing in what bash completes depotctl by', async () => {
  const file = join(await temporaryFolder(), 'depotctl');
  await writeFile(file, completionScript('bash'));
  const words = ['shellcheck', '--shell=bash', '--severity=warning', '--format=gcc', file] as const;

  expect(await runCommand(words)).toEqual({ code: 0, stdout: '', stderr: '' });
});

function isShell(path: string): boolean {
  return (
    extname(path) === '.sh' ||
    path.endsWith('-pkg') ||
    (!['.png', '.svg'].includes(extname(path)) && readSource(path).startsWith('#!/bin/sh'))
  );
}

/** Whether a template that goes over lines matches. */
function hasText(path: string, pattern: RegExp): boolean {
  return [...readSource(path).matchAll(/`[^`]*\n[^`]*`/g)].some(([text]) => pattern.test(text));
}
