import type { FeatureDocumentation } from '../../http/openapi/documentation.ts';

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
        204: { description: 'logged in; the cookie is in Set-Cookie' },
        303: { description: 'with page=1: logged in, and on to the page' },
      },
      isRefusedByPage: true,
    },
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
