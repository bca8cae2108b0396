import type * as api from '../../http/openapi/documentation.ts';
import type { JsonObject } from '../../http/openapi/schemas.ts';
import { ROUTES, type Route } from './routes.ts';

const TAG = 'Forge';

/** Below the API root. Parameters and bodies are the forge's own, which describes them itself. */
export function describeForge(apiRoot: string): api.PassedInterface {
  const paths: api.PassedInterface['paths'] = {};
  for (const route of ROUTES) {
    for (const path of pathsOf(route)) {
      const whole = `${apiRoot}${path}`;
      paths[whole] = { ...paths[whole], [route.method.toLowerCase()]: operationOf(route, path) };
    }
  }
  return {
    tag: {
      name: TAG,
      description:
        'Passed to the code forge as it is, also below the CGI root. ' +
        "The forge's own /swagger.v1.json describes parameters and bodies.",
    },
    securitySchemes: {
      forgeToken: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: "the forge's own; without it the device's token may stand in",
      },
    },
    paths,
  };
}

/** A pattern whose last parameter may be left out is two paths. */
function pathsOf({ pattern }: Route): string[] {
  const short = pattern.replace(/\/\{\w+\?\}$/, '');
  const whole = pattern.replace(/\{(\w+)(?:\.\.\.|\?)\}/g, '{$1}');
  return short === pattern ? [whole] : [short, whole];
}

function operationOf({ method, summary }: Route, path: string): JsonObject {
  const body = { content: { 'application/json': { schema: { type: 'object' } } } };
  return {
    operationId: nameOf(method, path),
    tags: [TAG],
    summary,
    security: [{ forgeToken: [] }, {}],
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...(method === 'GET' ? {} : { requestBody: body }),
    responses: {
      '2XX': { description: "the forge's answer" },
      default: {
        description: "the forge's refusal; with the header X-Depotd-Error this device's own",
      },
    },
  };
}

/** `GET /repos/{owner}/{repo}/pulls` is `forgeGetReposOwnerRepoPulls`. */
function nameOf(method: string, path: string): string {
  const words = `${method.toLowerCase()} ${path}`.split(/[^A-Za-z0-9]+/);
  return `forge${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}`;
}
