import * as api from '../../http/openapi/documentation.ts';

export const ICONS_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Icons',
  description: 'Pictures of apps, from the device itself.',
  operations: {
    'GET admin/store/icon': {
      operationId: 'getIcon',
      answers: {
        200: {
          headers: api.ETAG,
          description:
            'the picture; its type goes by its content, or is application/octet-stream if Accept ' +
            'names that and no picture',
          contentType: ['image/png', 'image/svg+xml', 'image/webp', 'application/octet-stream'],
        },
      },
      refusals: { 404: 'there is no picture of that name' },
    },
  },
};
