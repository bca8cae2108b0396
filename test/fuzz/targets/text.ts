import * as fc from 'fast-check';

import { parseEvents } from '../../../src/cli/server-events.ts';
import { appItem, parseAppMeta } from '../../../src/package-management/apps/app-meta.ts';
import { parseStanzas } from '../../../src/package-management/opkg/database/stanza.ts';
import {
  endsWell,
  parseStatus,
} from '../../../src/package-management/opkg/database/status-file.ts';
import { parseLsblk } from '../../../src/features/disks/lsblk.ts';
import { createTerminalText } from '../../../src/panel/views/activity/terminal-text.js';
import { runCommand } from '../../device/command.ts';
import { inPieces, mutated, pieceSizes, property, type FuzzTarget } from '../target.ts';

/** Parsers of text that others write: what lsblk, opkg, packages and programs print. */
export function textTargets(): FuzzTarget[] {
  return [
    lsblkTree(),
    lsblkJunk(),
    lsblkByLsblk(),
    appMeta(),
    statusFile(),
    statusJunk(),
    events(),
    terminal(),
  ];
}

interface Node {
  kname: string;
  size: number | string | null;
  fstype?: string | null;
  children?: Node[];
}

const kname = fc.stringMatching(/^[a-z]{2,4}[0-9]{0,3}(p[0-9]{1,2})?$/);
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.record(
    {
      kname,
      size: fc.oneof(fc.nat(), fc.nat().map(String), fc.constant(null)),
      fstype: fc.constantFrom('ext4', null, ''),
      children: fc.array(tie('node'), { maxLength: 3, depthIdentifier: 'lsblk' }),
    },
    { requiredKeys: ['kname', 'size'] },
  ),
}));

function lsblkTree(): FuzzTarget {
  return property('lsblk', 1500, {
    inputs: fc.array(node, { maxLength: 4 }),
    check: (blockdevices) => {
      const found = parseLsblk(JSON.stringify({ blockdevices }));
      const names = new Set(blockdevices.flatMap(namesIn));
      if (found === undefined) return 'a listing is not read';
      if (found.length !== names.size) return `${found.length} devices of ${names.size}`;
      const odd = found.find(({ name, sizeBytes }) => !names.has(name) || !(sizeBytes >= 0));
      return odd === undefined ? undefined : `read as ${JSON.stringify(odd)}`;
    },
  });
}

function namesIn({ kname: own, children = [] }: Node): string[] {
  return [own, ...children.flatMap(namesIn)];
}

function lsblkJunk(): FuzzTarget {
  return property('lsblk junk', 2000, {
    inputs: fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify({ blockdevices: value })),
    ),
    check: (text) => {
      const found = parseLsblk(text);
      return found === undefined || found.every(({ name }) => typeof name === 'string')
        ? undefined
        : 'a device without a name';
    },
  });
}

/** The tool of this machine: the tree has the same devices as its own flat list. */
function lsblkByLsblk(): FuzzTarget {
  const columns = 'NAME,KNAME,PATH,MAJ:MIN,TYPE,SIZE,FSTYPE,FSVER,LABEL,UUID';
  return property('lsblk by lsblk(8)', 2, {
    inputs: fc.subarray(['--all', '--merge'], { minLength: 0 }),
    check: async (flags) => {
      const words = ['lsblk', '--json', '--bytes', ...flags, '--output', columns] as const;
      const tree = await runCommand(words);
      const list = await runCommand(['lsblk', '-n', '-r', ...flags, '--output', 'KNAME']);
      // A disk came or went in between.
      if ((await runCommand(words)).stdout !== tree.stdout) return undefined;
      if (tree.code !== 0 || list.code !== 0) return undefined;
      const ours = (parseLsblk(tree.stdout) ?? []).map(({ name }) => name).sort();
      const theirs = [...new Set(list.stdout.split('\n').filter(Boolean))].sort();
      return ours.join() === theirs.join() ? undefined : `${ours.join()} and ${theirs.join()}`;
    },
  });
}

/** Whatever a package brings as its meta file, the list of apps has an entry that is well formed. */
function appMeta(): FuzzTarget {
  const keys = [
    'title',
    'version',
    'release',
    'depends',
    'tags',
    'autoconf',
    '__proto__',
    'name',
    'time',
  ];
  const object = fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), fc.jsonValue());
  return property('meta', 3000, {
    inputs: fc.oneof(
      object.map((value) => JSON.stringify(value)),
      fc.json(),
      fc.string(),
    ),
    check: (text) => {
      const meta = parseAppMeta(text);
      const item = JSON.parse(JSON.stringify(appItem('x', meta, 1))) as Record<string, unknown>;
      if (item.name !== 'x' || item.time !== 1) return `the entry is ${JSON.stringify(item)}`;
      const depends = meta?.depends;
      const isList = depends === undefined || depends.every((each) => typeof each === 'string');
      return isList ? undefined : 'depends is no list of names';
    },
  });
}

const word = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.+-]{0,10}$/);
const entry = fc.record({ name: word, version: word, depends: fc.array(word, { maxLength: 3 }) });

function textOfEntry({
  name,
  version,
  depends,
}: {
  name: string;
  version: string;
  depends: string[];
}): string {
  const list = depends.length === 0 ? '' : `Depends: ${depends.join(', ')}\n`;
  return `Package: ${name}\nVersion: ${version}\n${list}Status: install user installed\nArchitecture: all\n\n`;
}

function statusFile(): FuzzTarget {
  return property('status', 1500, {
    inputs: fc.uniqueArray(entry, { selector: ({ name }) => name, maxLength: 8 }),
    check: (entries) => {
      const text = entries.map(textOfEntry).join('');
      const packages = parseStatus(text);
      const found = entries.every(({ name, version, depends }) => {
        const read = packages.get(name);
        return read?.version === version && read.depends.flat().join() === depends.join();
      });
      if (!found || packages.size !== entries.length) return 'an entry is lost or read wrongly';
      return entries.length === 0 || endsWell(text)
        ? undefined
        : 'a whole file is taken for cut off';
    },
  });
}

function statusJunk(): FuzzTarget {
  const whole = fc
    .array(entry, { minLength: 1, maxLength: 4 })
    .map((entries) => Buffer.from(entries.map(textOfEntry).join('')));
  return property('status junk', 3000, {
    inputs: fc.oneof(
      mutated(whole),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    ),
    check: (content) => {
      const text = content.toString('utf8');
      endsWell(text);
      const stanzas = [...parseStanzas(text)];
      const packages = parseStatus(text);
      return packages.size <= stanzas.length ? undefined : 'more packages than paragraphs';
    },
  });
}

function events(): FuzzTarget {
  const event = fc.record({ event: word, data: fc.jsonValue() });
  return property('events', 800, {
    inputs: fc.tuple(fc.array(event, { maxLength: 6 }), pieceSizes),
    check: async ([sent, sizes]) => {
      const text = sent
        .map(
          ({ event: name, data }) => `: comment\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`,
        )
        .join('');
      const got: unknown[] = [];
      for await (const { event: name, data } of parseEvents(inPieces(Buffer.from(text), sizes))) {
        got.push([name, data]);
      }
      const expected = sent.map(({ event: name, data }) => [name, data]);
      return JSON.stringify(got) === JSON.stringify(expected)
        ? undefined
        : `read as ${JSON.stringify(got)}`;
    },
  });
}

/** What programs print shows the same, however it was cut on the way. */
function terminal(): FuzzTarget {
  const sequence = fc.constantFrom(
    '\r',
    '\n',
    '\b',
    '\t',
    '\x1b[',
    '\x1b[2K',
    '\x1b[1A',
    '\x1b[31m',
    '\x1b]0;t\x07',
    '\x1b',
    'm',
    '9',
    ';',
    '\x1b[999999999C',
    '\x1b[5D',
  );
  return property('terminal', 1500, {
    inputs: fc.tuple(
      fc.array(fc.oneof(sequence, fc.string({ maxLength: 8 })), { maxLength: 30 }),
      pieceSizes,
    ),
    check: ([pieces, sizes]) => {
      const text = pieces.join('');
      const [whole, cut] = [createTerminalText(), createTerminalText()];
      whole.write(text);
      for (let at = 0, index = 0; at < text.length; index += 1) {
        const size = (sizes[index % sizes.length] ?? 1) % 5;
        cut.write(text.slice(at, at + size + 1));
        at += size + 1;
      }
      return whole.text() === cut.text()
        ? undefined
        : `${JSON.stringify(whole.text())}, and in pieces ${JSON.stringify(cut.text())}`;
    },
  });
}
