import * as v from 'valibot';

/**
 * The answers of a server of hawkBit's Direct Device Integration API, as far as they are used
 * (docs/reference/ddi.md). All of them come from outside: what does not fit is refused as a whole.
 */

const link = v.looseObject({ href: v.pipe(v.string(), v.maxLength(4096)) });

/** `HH:mm:ss`, in seconds. */
const sleep = v.pipe(
  v.string(),
  v.regex(/^\d{1,3}:[0-5]\d:[0-5]\d$/, 'HH:mm:ss is expected'),
  v.transform((value) => {
    const [hours = 0, minutes = 0, seconds = 0] = value.split(':').map(Number);
    return (hours * 60 + minutes) * 60 + seconds;
  }),
);

export const pollSchema = v.looseObject({
  config: v.optional(
    v.looseObject({ polling: v.optional(v.looseObject({ sleep: v.optional(sleep) })) }),
  ),
  _links: v.optional(
    v.looseObject({
      deploymentBase: v.optional(link),
      cancelAction: v.optional(link),
      confirmationBase: v.optional(link),
      configData: v.optional(link),
    }),
  ),
});
export type Poll = v.InferOutput<typeof pollSchema>;

/** A number at hawkBit; other servers may have other names. */
export const actionId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/));

const artifact = v.looseObject({
  /** A label: the server takes `../x.ipk` for one. */
  filename: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  hashes: v.looseObject({
    /** A server without it (gooseBit has SHA-1 alone) is told that its file is refused. */
    sha256: v.optional(
      v.pipe(
        v.string(),
        v.toLowerCase(),
        v.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits are expected'),
      ),
    ),
  }),
  size: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 40)),
  _links: v.looseObject({ download: v.optional(link), 'download-http': v.optional(link) }),
});
export type Artifact = v.InferOutput<typeof artifact>;

const chunk = v.looseObject({
  part: v.pipe(v.string(), v.maxLength(256)),
  version: v.pipe(v.string(), v.maxLength(256)),
  name: v.pipe(v.string(), v.maxLength(256)),
  artifacts: v.optional(v.pipe(v.array(artifact), v.maxLength(50)), []),
  metadata: v.optional(
    v.pipe(
      v.array(
        v.looseObject({
          key: v.pipe(v.string(), v.maxLength(256)),
          value: v.pipe(v.string(), v.maxLength(16_384)),
        }),
      ),
      v.maxLength(100),
    ),
    [],
  ),
});
export type Chunk = v.InferOutput<typeof chunk>;

const chunks = v.pipe(v.array(chunk), v.maxLength(50));
const urgency = v.picklist(['skip', 'attempt', 'forced']);

const deployment = v.looseObject({
  download: urgency,
  update: urgency,
  maintenanceWindow: v.optional(v.picklist(['available', 'unavailable'])),
  chunks,
});
export type Deployment = v.InferOutput<typeof deployment>;

export const deploymentSchema = v.looseObject({
  id: actionId,
  deployment,
  /** What the server was told of the action, newest first. */
  actionHistory: v.optional(
    v.looseObject({ messages: v.optional(v.nullable(v.array(v.string())), []) }),
  ),
});

/** What is to be confirmed has the shape of a deployment. */
export const confirmationSchema = v.looseObject({ id: actionId, confirmation: deployment });

export const cancelSchema = v.looseObject({
  id: actionId,
  cancelAction: v.looseObject({ stopId: actionId }),
});
