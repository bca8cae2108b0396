import * as v from 'valibot';
import { jsonOperation, type FeatureDocumentation } from '../../http/openapi/documentation.ts';

export const LOGIN_DOCUMENTATION: FeatureDocumentation = {
  tag: 'Log-in',
  description: 'Sessions, where `main.auth` is `panel` or `password`.',
  operations: {
    'GET admin/login': {
      operationId: 'showLogin',
      answers: { 200: { description: 'the log-in page', contentType: 'text/html' } },
    },
    'POST admin/login': {
      operationId: 'logIn',
      answers: {
        204: {
          description:
            'logged in; the cookie is in Set-Cookie, its second half in X-Depotd-Key: requests ' +
            'that rest on the cookie send both',
        },
        303: { description: 'with page=1: logged in, and on to the page' },
      },
      isRefusedByPage: true,
    },
    'GET admin/ticket': jsonOperation('getTicket', {
      description: 'good once, within 30 s, as the parameter ticket of that address',
      schema: v.object({ ticket: v.string() }),
      example: { ticket: 'pVQmT3b1yTQm0Ck2yq8wJw0m5n5cB0aV' },
    }),
    'POST admin/logout': {
      operationId: 'logOut',
      answers: { 204: { description: 'the session is gone' } },
    },
    'POST admin/passwd': {
      operationId: 'setPassword',
      answers: { 204: { description: 'the password is set, and all sessions have ended' } },
    },
  },
};
