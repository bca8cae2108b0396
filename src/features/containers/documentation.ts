import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const container = api.titled('Container', {
  id: v.string(),
  name: v.string(),
  image: v.string(),
  state: api.described("the engine's word: running, exited, restarting …", v.string()),
  ports: api.described(
    '`0.0.0.0:8096->8096/tcp`; one that leads nowhere is `8096/tcp`',
    v.array(v.string()),
  ),
  project: api.optional('of compose', v.string()),
  app: api.optional('the installed app that it belongs to', v.string()),
  restarts: api.optional('by the engine, since it was made', api.integer),
  created_at: api.unixSeconds,
  image_bytes: v.optional(api.integer),
});

export const CONTAINERS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Containers',
  description: 'What runs in containers; those of an app go with it.',
  operations: {
    'GET admin/system/containers': api.jsonOperation('listContainers', {
      description: 'all containers; none if no engine answers within seconds',
      schema: api.titled('Containers', {
        engine: api.whether('whether a container engine answers'),
        containers: v.array(container),
      }),
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
