import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

export const UNDO_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Undo',
  description: 'Taking back what a finished task changed.',
  operations: {
    'POST admin/store/undo': api.taskOperation('undoTask', {
      refusals: { 404: 'there is no such task', 409: 'it cannot be undone: the message says why' },
    }),
    'POST admin/store/confirm': api.jsonOperation('confirmTask', {
      description: 'it stays; 409 if there is nothing to confirm, or if it goes back already',
      schema: v.object({ code: v.literal(0) }),
      example: { code: 0 },
      refusals: {
        404: 'there is no such task',
        409: 'there is nothing to confirm, or it goes back already',
      },
    }),
  },
};
