import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const lines = v.optional(v.array(v.string()));

const health = v.pipe(
  v.looseObject({
    status: v.picklist(['ok', 'failing']),
    reasons: api.optional('what keeps it from its work, a sentence each', v.array(v.string())),
    version: v.string(),
    uptime_s: api.integer,
    rss_bytes: api.integer,
    damaged_tasks: api.optional(
      'tasks whose records were damaged',
      v.array(v.object({ task_id: v.string(), reason: v.string() })),
    ),
    broken_packages: api.described('packages that apk marks as broken', lines),
    unreadable_feeds: api.described('`FILE:LINE: REASON`', lines),
    forge: v.optional(
      v.object({
        configured: v.boolean(),
        reachable: v.optional(v.boolean()),
        reachedAt: v.optional(api.unixSeconds),
        lastError: v.optional(v.string()),
        failedAt: v.optional(api.unixSeconds),
      }),
    ),
    fleet: v.optional(v.looseObject({ configured: v.boolean() })),
  }),
  v.title('Health'),
);

/** While the daemon stops, whatever is asked for is refused. */
const failing = v.union([health, v.object({ code: v.literal(503), msg: v.string() })]);

const bytes = api.described('bytes', api.integer);

const deviceSummary = api.titled('DeviceSummary', {
  model: api.optional("the maker's name for it", v.string()),
  release: api.optional("the system's name and version", v.string()),
  kernel: v.string(),
  architecture: api.described('that packages are made for', v.string()),
  uptime_s: api.integer,
  load: api.described('of the last 1, 5 and 15 minutes', v.array(v.number())),
  memory: v.object({ total_bytes: bytes, available_bytes: bytes }),
  storage: v.array(
    v.object({
      mount: v.string(),
      total_bytes: bytes,
      free_bytes: bytes,
      role: api.described(
        'overlay: what changes a read-only system, such as packages',
        v.picklist(['system', 'overlay', 'data']),
      ),
    }),
  ),
  package_manager: api.described('opkg or apk', v.string()),
  depotd: api.described('the version of the daemon', v.string()),
});
export type DeviceSummary = v.InferOutput<typeof deviceSummary>;

const EXAMPLE_DEVICE = {
  model: 'GL.iNet GL-MT6000',
  release: 'OpenWrt 24.10.4 r28959',
  kernel: '6.6.110',
  architecture: 'aarch64_cortex-a53',
  uptime_s: 86_400,
  load: [0.12, 0.08, 0.01],
  memory: { total_bytes: 1_037_520_896, available_bytes: 812_834_816 },
  storage: [
    { mount: '/rom', total_bytes: 13_107_200, free_bytes: 0, role: 'system' },
    { mount: '/overlay', total_bytes: 7_516_192_768, free_bytes: 6_442_450_944, role: 'overlay' },
  ],
  package_manager: 'opkg',
  depotd: '0.1.0',
};

const EXAMPLE_CHECKS = [
  { id: 'clock', state: 'ok', message: 'the clock says 2026-11-22T18:00:00.000Z' },
  {
    id: 'tools',
    state: 'warning',
    message: 'without rsync: the data of containers cannot be moved',
    remedy: 'install rsync',
  },
];

const EXAMPLE_HEALTH = { version: '0.1.0', uptime_s: 3600, rss_bytes: 56_623_104 };

export const SYSTEM_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'System',
  description: 'The daemon and the device themselves.',
  operations: {
    'GET admin/store/uid': api.jsonOperation('getDevice', {
      description: 'the device',
      schema: api.titled('Device', { uid: v.string(), arch: v.string(), version: v.string() }),
      example: { uid: 'c1b9e3f05a7d', arch: 'aarch64_cortex-a53', version: '0.1.0' },
    }),
    'GET admin/system/device': api.jsonOperation('describeDevice', {
      description: 'the device as it is now',
      schema: deviceSummary,
      example: EXAMPLE_DEVICE,
    }),
    'GET admin/system/doctor': api.jsonOperation('examineDevice', {
      description: 'what each check found; one that fails is a warning, and the others go on',
      schema: api.titled('DoctorReport', {
        checks: v.array(
          v.object({
            id: v.string(),
            state: v.picklist(['ok', 'warning', 'error', 'skipped']),
            message: v.string(),
            remedy: api.optional('what its owner can do', v.string()),
          }),
        ),
      }),
      example: { checks: EXAMPLE_CHECKS },
    }),
    'GET admin/system/events': {
      operationId: 'followDevice',
      answers: {
        200: {
          description: '`job` for each change of a task, and what the forge confirmed',
          contentType: 'text/event-stream',
          example: 'event: job\ndata: {"task_id":"3f0c9a52d71b48e6a0f5c2d4e8b17a90"}\n\n',
        },
      },
    },
    'GET openapi.json': api.jsonOperation('getInterface', {
      description: 'this document',
      schema: v.pipe(v.looseObject({ openapi: v.string() }), v.title('Interface')),
      headers: api.ETAG,
      example: { openapi: '3.1.0' },
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
          schema: failing,
          example: { status: 'failing', reasons: ['the daemon is stopping'], ...EXAMPLE_HEALTH },
        },
      },
    },
    'GET /metrics': {
      operationId: 'getMetrics',
      answers: {
        200: {
          description: "Prometheus' text format",
          contentType: 'text/plain',
          example: 'depotd_jobs{state="done"} 3\n',
        },
      },
    },
  },
};
