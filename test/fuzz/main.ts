import { createSearchReport, readSearchOptions } from '../support/search-run.ts';
import { searchInputs } from './search.ts';

/** `npm run test:fuzz -- [--tries N] [--minutes N] [--seed N] [--out FILE] [--target NAME] [--scale N]` */
const options = readSearchOptions(process.argv.slice(2), {
  tries: 200_000,
  minutes: 30,
  further: ['target', 'scale'],
});
const report = createSearchReport('fuzz', options);
await searchInputs(report, options);
process.exitCode = report.end();
