import * as v from 'valibot';
import * as api from '../../http/openapi/documentation.ts';

const NO_LOGIN = { 404: 'main.auth has no such log-in' };
const WRONG = {
  403: 'wrong, no right, or the page of another site',
  429: 'too many wrong attempts',
};

export const LOGIN_DOCUMENTATION: api.FeatureDocumentation = {
  tag: 'Log-in',
  description: 'Sessions, where `main.auth` is `panel` or `password`.',
  operations: {
    'GET admin/login': {
      operationId: 'showLogin',
      answers: { 200: { description: 'the log-in page', contentType: 'text/html' } },
      refusals: NO_LOGIN,
    },
    'POST admin/login': {
      operationId: 'logIn',
      answers: {
        204: {
          description:
            'logged in; the cookie is in Set-Cookie, its second half in X-Depotd-Key: requests ' +
            'that rest on the cookie send both',
          headers: { 'Set-Cookie': 'depotd_session', 'X-Depotd-Key': 'the second half' },
        },
        303: {
          description: 'with page=1: logged in, and on to the page',
          headers: { 'Set-Cookie': 'depotd_session', Location: 'the page, with the second half' },
        },
      },
      needsEither: ['password', 'session'],
      isRefusedByPage: true,
      refusals: { ...WRONG, ...NO_LOGIN },
    },
    'GET admin/ticket': api.jsonOperation('getTicket', {
      description: 'good once, within 30 s, as the parameter ticket of that address',
      schema: v.object({ ticket: v.string() }),
      example: { ticket: 'pVQmT3b1yTQm0Ck2yq8wJw0m5n5cB0aV' },
    }),
    'POST admin/logout': {
      operationId: 'logOut',
      answers: { 204: { description: 'the session is gone' } },
      refusals: NO_LOGIN,
    },
    'POST admin/passwd': {
      operationId: 'setPassword',
      answers: { 204: { description: 'the password is set, and all sessions have ended' } },
      refusals: { ...WRONG, ...NO_LOGIN },
    },
  },
};
