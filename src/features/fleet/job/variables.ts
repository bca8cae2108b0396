import { DepotError } from '../../../errors.ts';
import { readMac, readSerial } from '../controller-id.ts';
import type { Work } from '../rollout/work.ts';
import type { FleetJobTools } from './tools.ts';

const VARIABLE = /%(%|attr\.[A-Za-z0-9_.-]*[A-Za-z0-9_]|[a-z]+)/g;

/**
 * The settings with what is this device's own in the place of `%mac`, `%serial`, `%hostname` and
 * `%attr.NAME`, as the server knows it; `%%` is a percent sign.
 * @throws DepotError bad_request, unavailable that names the variable
 */
export async function expandSettings(
  { paths, attributes }: Pick<FleetJobTools, 'paths' | 'attributes'>,
  { settings, templates }: Pick<Work, 'settings' | 'templates'>,
): Promise<Work['settings']> {
  let known: Record<string, string> | undefined;
  const attribute = async (name: string): Promise<string | undefined> =>
    (known ??= await attributes())[name];
  const valueOf = async (variable: string): Promise<string | undefined> => {
    if (variable === '%') return '%';
    if (variable === 'mac') return readMac(paths);
    if (variable === 'serial') return readSerial(paths);
    if (variable === 'hostname') return attribute('hostname');
    const name = /^attr\.(.+)$/.exec(variable)?.[1];
    if (name !== undefined) return attribute(name);
    throw new DepotError('bad_request', `cannot set a value: nobody knows %${variable}`);
  };
  const expanded: Work['settings'] = { ...settings };
  for (const setting of templates) {
    const template = settings[setting] ?? null;
    if (template === null) continue;
    const values = new Map<string, string>();
    for (const [, variable = ''] of template.matchAll(VARIABLE)) {
      const value = (await valueOf(variable))?.replace(/[\0-\x1f\x7f]/g, '') ?? '';
      if (value !== '') values.set(variable, value);
      else {
        const text = `cannot set ${setting}: this device has no %${variable}`;
        throw new DepotError('unavailable', text);
      }
    }
    expanded[setting] = template.replace(VARIABLE, (_, name: string) => values.get(name) ?? '');
  }
  return expanded;
}
