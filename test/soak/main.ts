import { createSearchReport, readSearchOptions } from '../support/search-run.ts';
import { soak } from './search.ts';

/** `npm run test:soak -- [--minutes N] [--out FILE]`: each request and job counts as a try. */
const options = readSearchOptions(process.argv.slice(2), { tries: Infinity, minutes: 15 });
const report = createSearchReport('soak', options);
const result = await soak(report, options);
process.exitCode = report.end(`, ${result}`);
