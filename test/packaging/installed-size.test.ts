import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createIpk } from '../../packaging/ipk.ts';
import { luciPackages } from '../../packaging/luci-packages.ts';
import { openwrtPackage } from '../../packaging/packages.ts';
import { runCommand } from '../device/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const RELEASE = { version: '1.0', modifiedAt: 1_700_000_000 };

test.each([openwrtPackage(RELEASE), ...luciPackages(RELEASE)])(
  "$control.Package says what it takes on the disk as OpenWrt's builder does: by GNU's archive",
  async (contents) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'package.ipk'), createIpk(contents));
    const script =
      'tar -xzf package.ipk && tar -xzf data.tar.gz --one-top-level=files && ' +
      'tar --format=gnu -C files -cf files.tar .';

    expect(await runCommand(['sh', '-c', script], { cwd })).toMatchObject({ code: 0 });

    const { size } = await stat(join(cwd, 'files.tar'));
    expect(contents.control['Installed-Size']).toBe(String(size));
  },
);
