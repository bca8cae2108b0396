import * as v from 'valibot';
import {
  integer,
  jsonOperation,
  unixSeconds,
  whether,
  type FeatureDocumentation,
} from '../../http/openapi/documentation.ts';

const container = v.pipe(
  v.object({
    id: v.string(),
    name: v.string(),
    image: v.string(),
    state: v.pipe(v.string(), v.description("the engine's word: running, exited, restarting …")),
    ports: v.pipe(
      v.array(v.string()),
      v.description('`0.0.0.0:8096->8096/tcp`; one that leads nowhere is `8096/tcp`'),
    ),
    project: v.optional(v.pipe(v.string(), v.description('of compose'))),
    app: v.optional(v.pipe(v.string(), v.description('the installed app that it belongs to'))),
    restarts: v.optional(v.pipe(integer, v.description('by the engine, since it was made'))),
    created_at: unixSeconds,
    image_bytes: v.optional(integer),
  }),
  v.title('Container'),
);

const containers = v.pipe(
  v.object({
    engine: whether('whether a container engine answers'),
    containers: v.array(container),
  }),
  v.title('Containers'),
);

export const CONTAINERS_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Containers',
  description: 'What runs in containers; those of an app go with it.',
  operations: {
    'GET admin/system/containers': jsonOperation('listContainers', {
      description: 'all containers; none if no engine answers within seconds',
      schema: containers,
      example: {
        engine: true,
        containers: [
          {
            id: '4f66ad9a0b2e',
            name: 'jellyfin',
            image: 'jellyfin/jellyfin',
            state: 'running',
            ports: ['0.0.0.0:8096->8096/tcp'],
            app: 'jellyfin',
            restarts: 0,
            created_at: 1_795_000_000,
            image_bytes: 812_646_400,
          },
        ],
      },
    }),
  },
};
