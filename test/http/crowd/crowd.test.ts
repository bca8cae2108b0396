import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { bundledProgram } from '../../support/bundled-program.ts';

const MAIN = await bundledProgram(join(import.meta.dirname, 'main.ts'));
const NETWORK = 'busybox ip link set lo up; busybox ip addr add 10.77.0.0/24 dev lo; exec "$@"';

test.each([
  { way: 'direct', manner: 'forms that come slowly' },
  { way: 'direct', manner: 'half of their headers' },
  { way: 'direct', manner: 'nothing' },
  { way: 'direct', manner: 'wrong passwords' },
  { way: 'nginx', manner: 'forms that come slowly' },
  { way: 'nginx', manner: 'wrong passwords' },
])(
  'eight addresses send $manner on 125 connections each, and the owner logs in ($way)',
  async ({ way, manner }) => {
    const program = [process.execPath, MAIN, way, manner, '3'];
    const words = ['--net', 'sh', '-c', NETWORK, 'sh', ...program];
    const { code, stdout, stderr } = await runCommand(['unshare', ...words]);

    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: '204\n'.repeat(4) });
  },
  180_000,
);
