import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const action = api.titled('FleetAction', {
  id: v.string(),
  title: v.string(),
  state: v.picklist(['offered', 'downloading', 'waiting', 'asking', 'installing', 'ended']),
  result: v.optional(v.picklist(['success', 'failure', 'canceled', 'downloaded'])),
  message: v.optional(v.string()),
  error_code: v.optional(v.string()),
  is_reported: api.whether('whether the server has its end'),
  task_id: v.optional(v.string()),
  downloaded_bytes: v.optional(api.integer),
  total_bytes: v.optional(api.integer),
});

/** What the page and `depotctl fleet` show. */
export type FleetStatus = v.InferOutput<typeof status>;
export type ActionStatus = v.InferOutput<typeof action>;

const status = api.titled('FleetStatus', {
  is_configured: v.boolean(),
  is_on: api.whether('whether the server may act on this device'),
  server: v.optional(v.string()),
  controller_id: v.optional(v.string()),
  polled_at: v.optional(api.unixSeconds),
  next_poll_at: v.optional(api.unixSeconds),
  interval_s: v.optional(api.integer),
  last_error: v.optional(v.string()),
  action: api.optional('the one under way, or the last one', action),
});

const EXAMPLE = {
  is_configured: true,
  is_on: true,
  server: 'https://fleet.example.org',
  controller_id: 'c1b9e3f05a7d4b21a0f5c2d4e8b17a90',
  polled_at: 1_795_000_000,
  next_poll_at: 1_795_000_290,
  interval_s: 300,
  action: {
    id: '25',
    title: 'adfilter 2.4.1',
    state: 'ended',
    result: 'success',
    message: 'adfilter 2.4.1',
    is_reported: true,
    task_id: '3f0c9a52d71b48e6a0f5c2d4e8b17a90',
  },
};

function statusOperation(
  operationId: string,
  refusals?: api.OperationDocumentation['refusals'],
): api.OperationDocumentation {
  return api.jsonOperation(operationId, {
    ...(refusals && { refusals }),
    description: 'the fleet server, the last poll and the action',
    schema: status,
    example: EXAMPLE,
  });
}

const NO_SERVER = { 404: 'there is no fleet server' };

export const FLEET_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Fleet',
  description: 'The server that rolls out to this device among many.',
  operations: {
    'GET admin/fleet/status': statusOperation('getFleet'),
    'POST admin/fleet/switch': statusOperation('switchFleet', NO_SERVER),
    'POST admin/fleet/poll': statusOperation('pollFleet', NO_SERVER),
    'POST admin/fleet/confirm': statusOperation('confirmFleetAction', {
      404: 'there is no fleet server, or its owner is not asked about this action',
    }),
  },
};
