import { createSearchReport, readSearchOptions } from '../support/search-run.ts';
import { searchPowerCuts } from './search.ts';

/**
 * `npm run test:power -- [--tries N] [--minutes N] [--seed N] [--manager opkg|apk]
 * [--disk ext4|f2fs] [--kinds A,B] [--cuts N] [--writes kept|reordered] [--out FILE]`: each cut of the power counts as a try,
 * and there are N in one run of a job. With OPKG or APK the real one is used.
 */
const options = readSearchOptions(process.argv.slice(2), {
  tries: 10,
  minutes: 60,
  further: ['manager', 'disk', 'kinds', 'cuts', 'writes'],
});
const { manager = 'opkg', disk = 'ext4', kinds, cuts = '3', writes = 'kept' } = options.further;
if (manager !== 'opkg' && manager !== 'apk') {
  throw new Error(`cannot use --manager ${manager}: opkg or apk`);
}
if (disk !== 'ext4' && disk !== 'f2fs') throw new Error(`cannot use --disk ${disk}: ext4 or f2fs`);
if (writes !== 'kept' && writes !== 'reordered') {
  throw new Error(`cannot use --writes ${writes}: kept or reordered`);
}
const report = createSearchReport('power', options);
await searchPowerCuts(report, {
  seed: options.seed,
  type: disk,
  manager,
  cuts: Number(cuts),
  isReordering: writes === 'reordered',
  ...(kinds !== undefined && { kinds: kinds.split(',') }),
});
process.exitCode = report.end(`, ${manager}, ${disk}, writes ${writes}`);
