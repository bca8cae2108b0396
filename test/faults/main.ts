import { createSearchReport, readSearchOptions } from '../support/search-run.ts';
import { searchFaults } from './search.ts';

/** `npm run test:faults -- [--tries N] [--minutes N] [--seed N] [--out FILE] [--kind KIND] [--workers N]` */
const options = readSearchOptions(process.argv.slice(2), {
  tries: 100,
  minutes: 60,
  further: ['kind', 'workers'],
});
const report = createSearchReport('faults', options);
await searchFaults(report, options);
process.exitCode = report.end();
