import { createListing } from '../../../../src/package-management/opkg/feeds/listing.ts';

/** Reads the list `large` in the folder given, and prints what buffers held at most, in MB. */
const [listsDir = ''] = process.argv.slice(2);
const feeds = [{ name: 'large', url: 'http://feed', isGzip: true }];
const config = { feeds, listsDir, destinations: [], architectures: new Map() };
const { summarize } = createListing({ readConfig: () => Promise.resolve(config) } as never);
let [count, most] = [0, 0];
await summarize(() => {
  count += 1;
  if (count % 100 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers);
  return true;
});
process.stdout.write(JSON.stringify({ count, most: Math.round(most / 1e6) }));
