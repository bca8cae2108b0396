import { describe, expect, test } from 'vitest';

import { readUciOption, setUciOption } from '../../src/config/uci-edit.ts';

const PLACE = { section: 'globals', type: 'globals', option: 'data_root' };

/** The file that OpenWrt's package dockerd brings, shortened. */
const DOCKERD = `# The following settings require a restart of docker to take full effect
config globals 'globals'
#	option alt_config_file '/etc/docker/daemon.json'
	option data_root '/opt/docker/'  # on the root
	option log_level 'warn'
	list registry_mirrors 'https://a b'

config firewall 'firewall'
	option device 'docker0'
	option data_root 'another'
`;

describe('setting one option in a UCI file', () => {
  test('every other character stays', () => {
    expect(setUciOption(DOCKERD, PLACE, '/mnt/a')).toBe(
      DOCKERD.replace("'/opt/docker/'", "'/mnt/a'"),
    );
  });

  test.each([
    [
      'bare',
      "config globals 'globals'\n\toption data_root /opt\n",
      "config globals 'globals'\n\toption data_root '/new'\n",
    ],
    [
      'in double quotes',
      "config globals 'globals'\n  option 'data_root'  \"/o\\\"pt\"\n",
      "config globals 'globals'\n  option 'data_root'  '/new'\n",
    ],
    [
      'in parts',
      "config globals 'globals'\n  option data_root '/o'\\''pt'\n",
      "config globals 'globals'\n\toption data_root '/new'\n",
    ],
    [
      'given twice',
      "config globals 'globals'\n\toption data_root /a\n\toption data_root /b\n",
      "config globals 'globals'\n\toption data_root /a\n\toption data_root '/new'\n",
    ],
    [
      'not there',
      "config globals 'globals'\n\toption x y\n",
      "config globals 'globals'\n\toption data_root '/new'\n\toption x y\n",
    ],
    [
      'without its section',
      "config other 'o'",
      "config other 'o'\n\nconfig globals 'globals'\n\toption data_root '/new'\n",
    ],
    ['in an empty file', '', "\nconfig globals 'globals'\n\toption data_root '/new'\n"],
  ])('a value %s', (_, text, expected) => {
    expect(setUciOption(text, PLACE, '/new')).toBe(expected);
  });

  test.each(["/mnt/it's", '/mnt/a b', '/mnt/#1', '/mnt/"q"', '/mnt/$(x)', '/mnt/ü'])(
    '%s is read back as it is',
    (path) => {
      expect(readUciOption(setUciOption(DOCKERD, PLACE, path), PLACE)).toBe(path);
    },
  );

  test.each([
    ['two statements on a line', "config globals 'globals'; option data_root /a; option x y\n"],
    ['a value over two lines', "config globals 'globals'\n\toption data_root '/a\nb'\n"],
  ])('%s is refused rather than guessed at', (_, text) => {
    expect(() => setUciOption(text, PLACE, '/new')).toThrow('cannot set globals.data_root');
  });
});
