import { scanFiles } from '../../../src/package-management/undo/file-states.ts';
import { withoutDescriptors } from '../../support/without-descriptors.ts';

/** Looks at what is in a folder when no descriptor is left, and prints what came. */
const [root = ''] = process.argv.slice(2);
const scan = async (): Promise<string[]> => {
  const found = await scanFiles({ roots: [root], excluded: [], mostFileBytes: 1024 });
  return [...found.keys()];
};
const meanwhile = await withoutDescriptors(scan);
process.stdout.write(JSON.stringify({ meanwhile, after: await scan() }));
