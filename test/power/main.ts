import { createSearchReport, readSearchOptions } from '../support/search-run.ts';
import { searchPowerCuts } from './search.ts';

/**
 * `npm run test:power -- [--tries N] [--minutes N] [--seed N] [--disk ext4|f2fs] [--kinds A,B]
 * [--out FILE]`: each cut of the power counts as a try. With OPKG the real one is used.
 */
const options = readSearchOptions(process.argv.slice(2), {
  tries: 10,
  minutes: 60,
  further: ['disk', 'kinds'],
});
const { disk = 'ext4', kinds } = options.further;
if (disk !== 'ext4' && disk !== 'f2fs') throw new Error(`cannot use --disk ${disk}: ext4 or f2fs`);
const report = createSearchReport('power', options);
await searchPowerCuts(report, {
  seed: options.seed,
  type: disk,
  opkg: process.env['OPKG'],
  ...(kinds !== undefined && { kinds: kinds.split(',') }),
});
process.exitCode = report.end();
