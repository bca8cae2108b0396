import * as v from 'valibot';
import {
  integer,
  jsonOperation,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';

const identity = v.pipe(
  v.object({ uid: v.string(), arch: v.string(), version: v.string() }),
  v.title('Device'),
);

const health = v.pipe(
  v.looseObject({
    status: v.picklist(['ok', 'failing']),
    reasons: v.optional(v.array(v.string())),
    version: v.string(),
    uptime_s: integer,
    rss_bytes: integer,
  }),
  v.title('Health'),
);

const EXAMPLE_HEALTH = { version: '0.1.0', uptime_s: 3600, rss_bytes: 56_623_104 };

export const SYSTEM_DOCUMENTATION: FeatureDocumentation = {
  tag: 'System',
  description: 'The daemon and the device themselves.',
  operations: {
    'GET admin/store/uid': jsonOperation('getDevice', {
      description: 'the device',
      schema: identity,
      example: { uid: 'c1b9e3f05a7d', arch: 'aarch64_cortex-a53', version: '0.1.0' },
    }),
    'GET admin/system/events': {
      operationId: 'followDevice',
      answers: {
        200: {
          description: '`job` for each change of a task, and what the forge confirmed',
          contentType: 'text/event-stream',
        },
      },
    },
    'GET openapi.json': jsonOperation('getInterface', {
      description: 'this document',
      schema: v.pipe(v.looseObject({ openapi: v.string() }), v.title('Interface')),
    }),
    'GET /healthz': {
      operationId: 'getHealth',
      answers: {
        200: {
          description: 'it can do its work',
          schema: health,
          example: { status: 'ok', ...EXAMPLE_HEALTH },
        },
        503: {
          description: 'it cannot; `reasons` says why',
          schema: health,
          example: { status: 'failing', reasons: ['the daemon is stopping'], ...EXAMPLE_HEALTH },
        },
      },
    },
    'GET /metrics': {
      operationId: 'getMetrics',
      answers: { 200: { description: "Prometheus' text format", contentType: 'text/plain' } },
    },
  },
};
