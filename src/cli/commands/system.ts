import { VERSION } from '../../config/environment.ts';
import { listIn, memberIn, numberIn, textIn, textsIn } from '../answer-fields.ts';
import { printFields, printRows, type CommandContext } from '../command-context.ts';
import { bytesText, formatSpan, formatTable, sizeIn } from '../terminal/table.ts';

/** What is wrong with the device. */
export async function diagnose({ client, output, invocation }: CommandContext): Promise<number> {
  const answer = await client.get('admin/system/doctor');
  const checks = listIn(answer, 'checks');
  if (invocation.given.has('json')) await output.printJson(answer);
  else {
    const rows = checks.map((check) => [
      textIn(check, 'state'),
      textIn(check, 'id'),
      [textIn(check, 'message'), textIn(check, 'remedy')]
        .filter(Boolean)
        .map(output.look.word)
        .join(' → '),
    ]);
    const look = { ...output.look, titleAt: 1 };
    await output.print(formatTable(['STATE', 'CHECK', 'WHAT'], rows, look));
  }
  return checks.some((check) => textIn(check, 'state') === 'error') ? 1 : 0;
}

/** Model, release, memory and space. */
export async function showDevice(context: CommandContext): Promise<number> {
  const device = await context.client.get('admin/system/device');
  const memory = memberIn(device, 'memory');
  const storage = listIn(device, 'storage').map((entry): [string, string] => [
    `space ${textIn(entry, 'mount')}`,
    `${sizeIn(entry, 'free_bytes')} of ${sizeIn(entry, 'total_bytes')} free ` +
      `(${context.output.look.word(textIn(entry, 'role'))})`,
  ]);
  const load = listIn(device, 'load').filter((value) => typeof value === 'number');
  return printFields(context, device, [
    ['model', textIn(device, 'model')],
    ['release', textIn(device, 'release')],
    ['kernel', textIn(device, 'kernel')],
    ['architecture', textIn(device, 'architecture')],
    ['up for', formatSpan(numberIn(device, 'uptime_s') ?? 0)],
    ['load', load.map((value) => value.toFixed(2)).join(' ')],
    [
      'memory',
      `${sizeIn(memory, 'available_bytes')} of ${sizeIn(memory, 'total_bytes')} available`,
    ],
    ...storage,
    ['packages', textIn(device, 'package_manager')],
    ['depotd', textIn(device, 'depotd')],
  ]);
}

/** Devices with a file system or a mount. */
export async function listDisks(context: CommandContext): Promise<number> {
  const data = memberIn(await context.client.get('admin/system/disks'), 'data') ?? {};
  const rows = Object.values(data).map((disk: unknown) => [
    textIn(disk, 'dev'),
    textIn(disk, 'type'),
    ownSizeText(textIn(disk, 'size')),
    sizeIn(disk, 'used_bytes'),
    sizeIn(disk, 'free_bytes'),
    textIn(disk, 'label'),
    textsIn(disk, 'mounts').join(', ') || textIn(disk, 'mount'),
  ]);
  return printRows(context, data, {
    headings: ['DEVICE', 'TYPE', 'SIZE', 'USED', 'FREE', 'LABEL', 'MOUNTED AT'],
    rows,
    none: 'no device has a file system',
  });
}

/** The daemon writes sizes as iStore does: `238.46 GB`, which are GiB. */
function ownSizeText(text: string): string {
  const [, value, unit = ''] = /^([\d.]+) ([KMGTPE]?)B$/.exec(text) ?? [];
  return value === undefined ? text : bytesText(Number(value) * 1024 ** ' KMGTPE'.indexOf(unit));
}

/** This program's version and the daemon's, which may be on another device. */
export async function showVersions(context: CommandContext): Promise<number> {
  const daemon = textIn(await context.client.get('admin/store/uid'), 'version');
  const versions = { depotctl: VERSION, ...(daemon !== '' && { depotd: daemon }) };
  return printFields(context, versions, Object.entries(versions));
}
