import * as v from 'valibot';

/** What becomes of one package of a backup that is restored. */
export const reportLine = v.object({
  package: v.string(),
  state: v.picklist(['back', 'there', 'renamed', 'not_offered', 'failed']),
  as: v.exactOptional(v.pipe(v.string(), v.description('its name on this device'))),
  message: v.exactOptional(v.string()),
});
export type ReportLine = v.InferOutput<typeof reportLine>;
