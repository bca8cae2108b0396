// `npm run release-keys -- FOLDER`: the two keys that packages and feeds are signed with.
import { reasonOf } from '../../src/errors.ts';
import { makeKeys } from './keys.ts';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  process.stderr.write('usage: npm run release-keys -- FOLDER\n');
  process.exitCode = 2;
} else {
  try {
    const { opkg, apk } = makeKeys(folder);
    process.stdout.write(`opkg ${opkg.id}\napk ${apk.id}\n`);
  } catch (error) {
    process.stderr.write(`depotd: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  }
}
