import { compileFunction } from 'node:vm';
import { describe, expect, test } from 'vitest';

import { luciPackages } from '../../packaging/luci-packages.ts';
import type { PackageContents } from '../../packaging/ipk.ts';
import type { Option, Section } from '../../src/config/option.ts';
import { MAIN_SECTION } from '../../src/config/options.ts';
import { SECTIONS } from '../../src/features.ts';
import { filesBelow, readSource } from '../source-tree.ts';
import { readLmo } from './lmo-reader.ts';

const RELEASE = { version: '1.2.3', modifiedAt: 1_712_345_678 };
const packages = luciPackages(RELEASE);
const [app] = packages as [PackageContents];
const VIEWS = 'packaging/openwrt/luci-app-depotd/htdocs/luci-static/resources/view/depotd';
const views = filesBelow(VIEWS);
const MODULES = 'packaging/openwrt/luci-app-depotd/htdocs/luci-static/resources/depotd';
const modules = filesBelow(MODULES);
const FORM = [`${VIEWS}/settings.js`, `${MODULES}/fleet.js`];
const STATUS = 'packaging/openwrt/luci-app-depotd/htdocs/luci-static/resources/view/status/include';
const SETTINGS: readonly Section[] = [MAIN_SECTION, ...SECTIONS];
/** Options that the form leaves out, and why. */
const NOT_IN_THE_FORM: Readonly<Record<string, string>> = {
  'main.root': 'the device that LuCI runs on is the one to manage; another root is for tests',
  'main.owner_socket': 'depotctl looks for it at its default; other places are for tests',
  'main.istore_paths': 'it takes effect with uhttpd-handler alone',
  'backup.after_upgrade': 'the page switches it on, with what it does',
  'packages.manager': 'a device has one package manager, which is found',
};

describe('luci-app-depotd', () => {
  test('it holds the views, the menu, the access group and the licence, and no configuration', () => {
    expect(Object.keys(app.files)).toEqual([
      '/www/luci-static/resources/depotd/fleet.js',
      '/www/luci-static/resources/depotd/options.js',
      '/www/luci-static/resources/view/depotd/apps.js',
      '/www/luci-static/resources/view/depotd/settings.js',
      '/www/luci-static/resources/view/status/include/70_depotd.js',
      '/usr/share/luci/menu.d/luci-app-depotd.json',
      '/usr/share/rpcd/acl.d/luci-app-depotd.json',
      '/usr/share/licenses/luci-app-depotd/LICENSE',
    ]);
    expect(app.conffiles).toBeUndefined();
    expect(app.control).toMatchObject({
      Package: 'luci-app-depotd',
      Version: '1.2.3-r1',
      Depends: 'libc, luci-base, depotd',
      Section: 'luci',
      Architecture: 'all',
    });
  });

  test('after it came and after it went, LuCI looks for its menu anew and rpcd for its groups', () => {
    for (const script of ['postinst-pkg', 'postrm']) {
      expect(app.scripts?.[script]).toContain('rm -f /tmp/luci-indexcache*');
      expect(app.scripts?.[script]).toContain('killall -HUP rpcd');
    }
  });

  test('each entry of the menu leads somewhere, and asks for the access group', () => {
    const menu = contentOf(app, '/usr/share/luci/menu.d/luci-app-depotd.json') as Record<
      string,
      { title: string; action: { type: string; path: string }; depends: { acl: string[] } }
    >;
    const [first] = Object.keys(menu);
    expect(first).toMatch(/^admin\/system\/[a-z]+$/);
    for (const { action, depends } of Object.values(menu)) {
      expect(depends.acl).toEqual(['depotd']);
      if (action.type === 'alias') expect(Object.keys(menu)).toContain(action.path);
      else expect(views).toContain(`${VIEWS}/${action.path.replace(/^depotd\//, '')}.js`);
    }
  });

  /** rpcd grants nothing for `"read": {}`. */
  test('the access group has a scope in read and one in write, and reading changes nothing', () => {
    const groups = contentOf(app, '/usr/share/rpcd/acl.d/luci-app-depotd.json') as Record<
      string,
      Record<'read' | 'write', { ubus: Record<string, string[]>; uci: string[] }>
    >;
    expect(Object.keys(groups)).toEqual(['depotd']);
    expect(groups.depotd?.read).toEqual({
      // What LuCI's own script asks for on every page, so that this group is enough to open one.
      ubus: { luci: ['getFeatures'], session: ['access'], uci: ['changes', 'get'] },
      uci: ['depotd'],
    });
    expect(groups.depotd?.write.uci).toEqual(['depotd']);
    expect(groups.depotd?.write.ubus.uci).toContain('apply');
  });

  test.each(views)('%s is a view as LuCI loads it', (path) => {
    const source = readSource(path);
    expect(source).toMatch(/^'use strict';\n('require [a-z.]+( as [a-z]+)?';\n)+\n/);
    // LuCI wraps a view into a function, whose value is the class.
    expect(() => compileFunction(source, ['L', 'E', '_'])).not.toThrow();
    expect(source).toContain('\nreturn view.extend({');
    expect(source).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|eval\(/);
  });

  test.each(modules)('%s is a module as LuCI loads it', (path) => {
    const source = readSource(path);
    expect(source).toMatch(
      /^'use strict';\n'require baseclass';\n('require [a-z.]+( as [a-z]+)?';\n)*\n/,
    );
    expect(() => compileFunction(source, ['L', 'E', '_'])).not.toThrow();
    expect(source).toContain('\nreturn baseclass.extend({');
  });

  test('each option of the form is one of depotd, with its default and its choices', () => {
    const options = optionsIn(FORM.map(readSource).join('\n'));
    expect(options.length).toBeGreaterThan(20);
    for (const { section, name, kind, given } of options) {
      const found = SETTINGS.find((known) => known.name === section);
      const option = found?.options[name];
      if (option === undefined) throw new Error(`cannot find ${section}.${name}`);
      expect([name, option.isList]).toEqual([name, kind === 'list']);
      checkKind[kind](option, given);
    }
  });

  test('fleet and forge have a tab each only while they are used', () => {
    const source = readSource(`${MODULES}/options.js`);
    expect(source).toContain("USED_BY_FEW = ['forge', 'fleet']");
    expect(source).toContain("option.depends(`more_${tab}`, '1')");
    expect(readSource(`${VIEWS}/settings.js`)).toContain('addUses(shown)');
  });

  test('each option of depotd stands in the form once, or is left out for a reason', () => {
    const shown = optionsIn(FORM.map(readSource).join('\n')).map(nameOf);
    const all = SETTINGS.flatMap(({ name: section, options }) =>
      Object.keys(options).map((name) => nameOf({ section, name })),
    );
    expect([...shown, ...Object.keys(NOT_IN_THE_FORM)].sort()).toEqual(all.sort());
  });
});

/** What the form says of an option of each kind is what depotd does. */
const checkKind: Record<Kind, (option: Option<unknown>, given: string[]) => void> = {
  text: ({ fallback }, [shown]) => expect(fallback).toBe(shown),
  list: ({ fallback }, [shown]) => expect([fallback].flat().join(', ')).toBe(shown),
  number: ({ fallback, parse }, [shown, least = '', most = '']) => {
    expect(String(fallback)).toBe(shown);
    expect([parse([least]), parse([most])]).toEqual([+least, +most]);
    for (const beyond of [+least - 1, +most + 1]) {
      expect(() => parse([String(beyond)])).toThrow('expected');
    }
  },
  choice: ({ fallback, parse }, given) => {
    expect(fallback).toBe(given[0]);
    expect(given.map((value) => parse([value]))).toEqual(given);
    expect(() => parse(['no such value'])).toThrow(`one of ${given.join(', ')} is expected`);
  },
};

describe.each([
  { code: 'zh-cn', folder: 'zh_Hans', title: '简体中文 (Chinese Simplified)', filled: '默认：%s' },
  { code: 'zh-tw', folder: 'zh_Hant', title: '繁體中文 (Chinese Traditional)', filled: '預設：%s' },
])('luci-i18n-depotd-$code', ({ code, folder, title, filled }) => {
  const name = `luci-i18n-depotd-${code}`;
  const chinese = packages.find(({ control }) => control.Package === name) ?? app;
  const catalogue = readLmo(binaryOf(chinese, `/usr/lib/lua/luci/i18n/depotd.${code}.lmo`));

  test('it needs the app, and adds the language to LuCI', () => {
    expect(chinese.control).toMatchObject({
      Package: name,
      Depends: 'libc, luci-app-depotd',
    });
    expect(chinese.files[`/etc/uci-defaults/${name}`]).toBe(
      `uci set luci.languages.${code.replace('-', '_')}='${title}'; uci commit luci\n`,
    );
  });

  test('it has every text of the views, the menu and the access group, and no other', () => {
    const scripts = [...views, ...modules, ...filesBelow(STATUS)];
    const texts = [...scripts.flatMap((path) => textsIn(readSource(path))), ...titles()];
    const ids = [
      ...readSource(`packaging/openwrt/luci-app-depotd/po/${folder}/depotd.po`).matchAll(
        /^msgid "(.+)"/gm,
      ),
    ];
    expect(texts.length).toBeGreaterThan(60);
    expect(
      texts.filter(({ text, context }) => catalogue.translate(text, context) === undefined),
    ).toEqual([]);
    const known = new Set(texts.map(({ text }) => text));
    const unused = ids
      .map(([, id = '']) => id.replaceAll('\\"', '"'))
      .filter((id) => !known.has(id));
    expect(unused).toEqual([]);
  });

  test('what is filled in stays in', () => {
    expect(catalogue.translate('Default: %s')).toBe(filled);
    expect(catalogue.translate('nothing', 'log level')).toMatch(/^[无無]$/);
    expect(catalogue.pluralRule).toBe('nplurals=1; plural=0;');
  });
});

test('the feed packs the same sources, with the rules of LuCI', () => {
  const makefile = readSource('packaging/openwrt/luci-app-depotd/Makefile');
  expect(makefile).toContain('include $(TOPDIR)/feeds/luci/luci.mk');
  expect(makefile).toContain('LUCI_DEPENDS:=+luci-base +depotd');
});

function fileOf(contents: PackageContents, path: string): string | Buffer {
  const file = contents.files[path];
  if (typeof file === 'string') return file;
  if (file === undefined || 'target' in file) throw new Error(`cannot find ${path}`);
  return file.content;
}

function contentOf(contents: PackageContents, path: string): unknown {
  return JSON.parse(String(fileOf(contents, path)));
}

function binaryOf(contents: PackageContents, path: string): Buffer {
  return Buffer.from(fileOf(contents, path));
}

interface Text {
  text: string;
  context?: string;
}

function textsIn(source: string): Text[] {
  const calls = source.matchAll(/\b_\(\s*'([^']*)'(?:,\s*'([^']*)')?/g);
  return [...calls].map(([, text = '', context]) => ({
    text,
    ...(context !== undefined && { context }),
  }));
}

function titles(): Text[] {
  const menu = contentOf(app, '/usr/share/luci/menu.d/luci-app-depotd.json') as object;
  const groups = contentOf(app, '/usr/share/rpcd/acl.d/luci-app-depotd.json') as object;
  const entries: unknown[] = [menu, groups].flatMap((file) => Object.values(file) as unknown[]);
  const named = entries as { title?: string; description?: string }[];
  return named.map(({ title, description }) => ({ text: title ?? description ?? '' }));
}

function nameOf({ section, name }: { section: string; name: string }): string {
  return `${section}.${name}`;
}

type Kind = 'text' | 'list' | 'number' | 'choice';

interface FormOption {
  section: string;
  name: string;
  kind: Kind;
  /** The default; for a number with its bounds, for a choice all values. */
  given: string[];
}

/** The calls of the form's own `text`, `list`, `number` and `choice`, by the function they are in. */
function optionsIn(source: string): FormOption[] {
  const sections = {
    addAccess: 'main',
    addStorage: 'main',
    addPackages: 'packages',
    addContainers: 'container',
    addForge: 'forge',
    addFleet: 'fleet',
    addKnown: 'fleet',
  };
  return Object.entries(sections).flatMap(([builder, section]) => {
    const body = new RegExp(`function ${builder}\\([^]*?\\n}\\n`).exec(source)?.[0] ?? '';
    const calls = body.matchAll(
      /\b(text|list|number|choice)\(\s*'([a-z_]+)',\s*(?:'([^']*)'|\[([^]*?)\],\s*\{)/g,
    );
    return [...calls].map(([, kind = '', name = '', fallback, values = '']) => ({
      section,
      name,
      kind: kind as Kind,
      given: fallback !== undefined ? [fallback] : valuesIn(kind, values),
    }));
  });
}

function valuesIn(kind: string, text: string): string[] {
  if (kind === 'number') return text.split(',').map((value) => value.trim());
  return [...text.matchAll(/\[\s*'([a-z]+)'/g)].map(([, value = '']) => value);
}
