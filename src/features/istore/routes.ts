import { flag, isOn } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, post, type Route } from '../../http/route.ts';
import type { IstoreLegacy } from './documentation.ts';
import type { IstoreSettings } from './istore-settings.ts';

/** What iStore's page switches: the operation, its parameter, and the option that keeps it. */
const SWITCHES = [
  { operation: 'toggle_docker', parameter: 'hide', option: 'hide_docker' },
  { operation: 'toggle_arch', parameter: 'ignore', option: 'ignore_arch' },
  { operation: 'toggle_ipv4', parameter: 'ipv4', option: 'ipv4' },
] as const;

const DONE = { code: 200, msg: 'Success' };

interface IstoreTools {
  settings: IstoreSettings;
  architecture: () => Promise<string>;
  legacy: () => Promise<IstoreLegacy>;
}

/** What iStore's own page asks for beside the store's operations. */
export function istoreRoutes({ settings, architecture, legacy }: IstoreTools): Route[] {
  return [
    ...SWITCHES.map(({ operation, parameter, option }) =>
      post({
        path: `admin/store/${operation}`,
        summary: `iStore's page: keeps its option ${option}`,
        params: { [parameter]: flag },
        handle: async ({ params }) => {
          await settings.write(option, isOn(params[parameter]) ? '1' : '0');
          return json(DONE);
        },
      }),
    ),
    get({
      path: 'admin/store/istore',
      summary: 'What iStore left on the device: records, its last folder, feeds of its catalogue',
      handle: async () => json(await legacy()),
    }),
    get({
      path: 'admin/store/features',
      summary: "iStore's page: what it shows buttons for (window.istore_features)",
      handle: async () => json(await settings.features()),
    }),
    get({
      path: 'admin/store/user_config',
      summary: "iStore's page: its options (window.istore_config)",
      handle: async () => json(await userConfig(settings, architecture)),
    }),
  ];
}

async function userConfig({ read }: IstoreSettings, architecture: IstoreTools['architecture']) {
  return {
    hide_docker: (await read('hide_docker')) === '1',
    ignore_arch: (await read('ignore_arch')) === '1',
    ipv4: (await read('ipv4')) === '1',
    last_path: await read('last_path'),
    super_arch: (await read('super_arch')) ?? superArchitecture(await architecture()),
    channel: await read('channel'),
  };
}

/** As iStore's init script makes it of an architecture such as `aarch64_cortex-a53`. */
function superArchitecture(architecture: string): string {
  if (architecture.startsWith('arm')) return 'arm';
  if (architecture === 'x86_64') return architecture;
  return architecture.split('_')[0]?.replace(/^i386$/, 'x86') ?? architecture;
}
