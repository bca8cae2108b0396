import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { LANGUAGES, voiceOf } from '../../../src/languages/languages.ts';
import { createUploadDevice, type SentFile, type UploadDevice } from './upload-device.ts';

let on: UploadDevice;
beforeAll(async () => {
  on = await createUploadDevice();
});
afterAll(() => on.close());

const FORM = 'multipart/form-data; boundary=b';
const FIELD = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\nv\r\n';
const FILE =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.run"\r\n\r\n#!/bin/sh\n';
const END = '\r\n--b--\r\n';

test.each([
  ['nothing', FORM, '', 400],
  ['the end alone', FORM, '--b--\r\n', 400],
  ['a field and no file', FORM, `${FIELD}--b--\r\n`, 400],
  ['a form cut off in a head', FORM, '--b\r\nContent-Disp', 400],
  [
    'a form cut off in a field',
    FORM,
    '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\nv',
    400,
  ],
  ['a form cut off in its file', FORM, FILE, 400],
  ['a form of another boundary', FORM, FILE.replace('--b', '--c'), 400],
  ['two files', FORM, `${FILE}\r\n${FILE}${END}`, 400],
  ['too many fields', FORM, `${FIELD.repeat(40)}${FILE}${END}`, 400],
  ['no boundary', 'multipart/form-data', `${FILE}${END}`, 400],
  ['a form that is no multipart', 'application/x-www-form-urlencoded', 'file=a', 415],
  ['a file without a form', 'application/octet-stream', '#!/bin/sh\n', 415],
])('an upload of %s is refused with a code and a remedy', async (...[, type, body, status]) => {
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/upload`;
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });

  expect([answer.status, await answer.json()]).toEqual([
    status,
    {
      code: status,
      msg: expect.stringMatching(/^cannot read /) as string,
      stdout: '',
      stderr: expect.stringMatching(/^cannot read /) as string,
      error_code: 'not_allowed',
      remedy: 'Send the file again, whole, in a form of the type multipart/form-data.',
    },
  ]);
  expect(await on.left()).toEqual([]);
});

interface Refusal {
  stderr: string;
  remedy: string;
}

test.each(LANGUAGES.map(({ code }) => code))(
  'in %s who sends a file is told of a wrong name, and of what is no package, without a word of English',
  async (code) => {
    const { say } = voiceOf(code);
    const refusalOf = async (file: SentFile): Promise<Refusal> =>
      (await (await on.send([file])).json()) as Refusal;
    const whole = gzipSync('package '.repeat(1000));
    const broken = Buffer.from(whole).fill(0xff, 12, 20);
    for (const content of ['hello', broken, whole.subarray(0, 20)]) {
      expect(say((await refusalOf({ name: 'a.ipk', content })).stderr)).not.toMatch(/[a-z]{2}/);
    }
    const { stderr, remedy } = await refusalOf({ name: 'a.txt', content: 'x' });
    expect(say(stderr) + say(remedy)).not.toMatch(/[a-z]{4}|\bor\b/);
  },
);
