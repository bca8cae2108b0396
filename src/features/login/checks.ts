import type { Config } from '../../config/config.ts';
import type { Paths } from '../../device/paths.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import type { FirstPassword } from './first-password.ts';
import { hasOwnerPassword } from './panel-login.ts';
import type { Password } from './password.ts';

export interface ExaminedLogin {
  auth: Config['main']['auth'];
  paths: Pick<Paths, 'onDevice'>;
  ownPassword: { password: Pick<Password, 'isSet'>; firstPassword: Pick<FirstPassword, 'file'> };
}

/** Whether somebody without a password gets in, or nobody does. */
export function loginChecks({ auth, paths, ownPassword }: ExaminedLogin): readonly DeviceCheck[] {
  const judge: Record<typeof auth, () => Promise<Finding>> = {
    panel: () => judgePanel(paths),
    password: () => judgeOwn(ownPassword),
    none: () => Promise.resolve({ state: 'skipped', message: 'main.auth is none: no password' }),
  };
  return [{ id: 'password', run: judge[auth] }];
}

async function judgeOwn(own: ExaminedLogin['ownPassword']): Promise<Finding> {
  if (await own.password.isSet()) return { state: 'ok', message: "depotd's password is set" };
  const message = 'no password is set, so that nobody can log in';
  const remedy = `set it as root: \`depotctl passwd\`; the proof lies in ${own.firstPassword.file}`;
  return { state: 'warning', message, remedy };
}

async function judgePanel(paths: ExaminedLogin['paths']): Promise<Finding> {
  const hasPassword = await hasOwnerPassword(paths);
  if (hasPassword === undefined) {
    return { state: 'skipped', message: 'there is no /etc/shadow to look at' };
  }
  if (hasPassword) return { state: 'ok', message: 'the user root has a password' };
  const message = 'the user root has no password: everybody in the network may log in';
  const remedy = 'set one: `passwd`, or in LuCI under System, Administration';
  return { state: 'error', message, remedy };
}
