import type { OfferedPackage, PackageSummary } from '../../../src/package-management/listing.ts';

/** What a summary has to say of a package that is offered. */
export function summaryOf(offer: OfferedPackage): PackageSummary {
  const { name, version, section, description, tags, downloadBytes, installedBytes } = offer;
  const { depends, time, feed } = offer;
  return {
    ...{ name, version, section, description, tags, downloadBytes, installedBytes, time, feed },
    depends: name.startsWith('app-meta-') ? depends : [],
  };
}
