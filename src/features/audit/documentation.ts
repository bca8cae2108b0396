import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const differing = v.array(
  v.object({
    path: v.string(),
    package: v.string(),
    /** `kind`: a link, a folder or a device in the place of a file, or the other way round. */
    what: v.picklist(['missing', 'kind', 'content', 'mode', 'owner']),
  }),
);
export type Differing = v.InferOutput<typeof differing>[number];

const listener = v.object({
  protocol: v.picklist(['tcp', 'udp']),
  address: v.string(),
  port: api.integer,
  pid: api.integer,
  /** File of the program that listens, and the script if it only runs one. */
  program: v.string(),
});
export type Listener = v.InferOutput<typeof listener>;

const verification = api.titled('Verification', {
  files: api.described('that packages have on record', api.integer),
  differing,
  configuration: api.described('what its owner may change, and did', differing),
  set_id: api.described("files of no package that run with another's rights", v.array(v.string())),
  unseen: api.optional(
    'folders with so much in them that not all of it was looked at',
    v.array(v.string()),
  ),
  listeners: api.described('programs of no package that listen', v.array(listener)),
});

const bill = v.pipe(
  v.looseObject({
    bomFormat: v.literal('CycloneDX'),
    specVersion: v.string(),
    components: v.array(v.looseObject({ name: v.string(), version: v.string() })),
  }),
  v.title('BillOfMaterials'),
);

const affected = api.titled('Affected', {
  affected: v.array(
    v.object({
      id: v.string(),
      package: v.string(),
      version: api.described('the installed one', v.string()),
      fixed: v.optional(v.string()),
    }),
  ),
});
export type Affected = v.InferOutput<typeof affected>['affected'][number];

export const AUDIT_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Audit',
  description: 'Whether the device is what its packages made it.',
  operations: {
    'GET admin/system/verify': api.jsonOperation('verifyDevice', {
      description: 'what differs; the end of the connection ends the look',
      schema: verification,
      example: {
        files: 3214,
        differing: [{ path: '/usr/sbin/dropbear', package: 'dropbear', what: 'content' }],
        configuration: [{ path: '/etc/config/network', package: 'netifd', what: 'content' }],
        set_id: [],
        listeners: [],
      },
    }),
    'GET admin/system/sbom': api.jsonOperation('listComponents', {
      description: 'CycloneDX 1.6',
      schema: bill,
      example: { bomFormat: 'CycloneDX', specVersion: '1.6', components: [] },
    }),
    'POST admin/system/advisories': api.jsonOperation('matchAdvisories', {
      description: 'those that concern an installed version',
      schema: affected,
      example: {
        affected: [{ id: 'CVE-2026-0001', package: 'curl', version: '8.12.1-r1', fixed: '8.13.0' }],
      },
    }),
  },
};
