import type { Language } from '../language.js';

/** What the log-in page says. */
export interface LoginTexts {
  title: string;
  user: string;
  password: string;
  noPassword: string;
  ownerWithout: string;
  unreachable: string;
  /** The browser has another cookie of this name, which is for HTTPS alone. */
  notKept: string;
  /** What the daemon says when it refuses, and what the page says then; `{}` is any text. */
  refusals: readonly (readonly [string, string])[];
}

export const LOGIN_TEXTS: Readonly<Record<Language, LoginTexts>> = {
  en: {
    title: 'Log in',
    user: 'User',
    password: 'Password',
    noPassword:
      'No password is set yet, so nobody can log in. Set one on the device, as root, then load ' +
      'this page again:',
    ownerWithout:
      'The user root has no password yet: leave the field empty. Set a password soon, since ' +
      'everybody in this network can log in.',
    unreachable: 'The device does not answer.',
    notKept:
      'The browser did not keep the log-in. It may hold one from HTTPS: use that, or log out ' +
      'there first.',
    refusals: [],
  },
  'zh-CN': {
    title: '登录',
    user: '用户名',
    password: '密码',
    noPassword: `尚未设置密码，因此无法登录。\
请以 root 身份在设备上设置密码，然后重新加载此页面：`,
    ownerWithout: `用户 root 尚未设置密码：请将密码留空。\
此网络中的任何人都可以登录，请尽快设置密码。`,
    unreachable: '设备没有响应。',
    notKept: `浏览器没有保存登录状态。\
它可能已有 HTTPS 的登录：请改用 HTTPS，或先在那里注销。`,
    refusals: [
      ['cannot log in: the user name or the password is wrong', '用户名或密码错误。'],
      ['cannot log in: the password is wrong', '密码错误。'],
      [
        'cannot log in: too many wrong attempts; try again in {} s',
        '登录失败次数过多，请在 {} 秒后重试。',
      ],
      [
        'cannot let "{}" in: rpcd\'s access group depotd does not allow it',
        '用户“{}”没有 depotd 的访问权限。',
      ],
    ],
  },
};

/** A refusal that is not translated stays as the daemon says it. */
export function refusalText({ refusals }: LoginTexts, message: string): string {
  for (const [source, translation] of refusals) {
    const [head = '', tail = ''] = source.split('{}');
    const isThis = source.includes('{}')
      ? message.startsWith(head) && message.endsWith(tail)
      : message === source;
    if (!isThis) continue;
    const value = message.slice(head.length, message.length - tail.length);
    return translation.replace('{}', () => value);
  }
  return message;
}
