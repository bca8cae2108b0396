import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';
import { DEVICE_PATH, MOST_PATH_CHARACTERS } from '../../http/parameter-schemas.ts';

export const CONTAINER_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Container data',
  description: 'Where the container engine keeps its data, and moving it.',
  operations: {
    'GET admin/store/docker_check_dir': api.jsonOperation('getContainerData', {
      description: 'where the data is',
      schema: api.titled('ContainerData', {
        code: api.integer,
        docker_on_system: api.whether('there is an engine, and its data is on the system disk'),
        has_engine: api.whether('an engine is there, running or not'),
      }),
      example: { code: 200, docker_on_system: true, has_engine: true },
    }),
    'GET admin/store/docker_check_migrate': {
      ...api.jsonOperation('checkContainerMove', {
        description: 'what would come of a move',
        schema: api.titled('MoveCheck', {
          code: api.integer,
          result: v.picklist(['good', 'bad', 'existed']),
          error: api.optional('why it is bad', v.string()),
        }),
        example: { code: 200, result: 'good' },
      }),
      parameters: { path: { pattern: DEVICE_PATH.source, maxLength: MOST_PATH_CHARACTERS } },
    },
    'POST admin/store/docker_migrate': api.taskOperation('moveContainerData'),
  },
};
