import type { PassedOperation } from '../../../http/openapi/document.ts';
import { ROUTES } from '../routes.ts';
import { OPERATIONS, type ForgeOperation } from './operations.ts';

/**
 * The documented operations, below the API root; one whose last parameter may be left out is two
 * paths.
 */
export function describeRoutes(apiRoot: string): PassedOperation[] {
  return ROUTES.flatMap(({ method, pattern }) => {
    const short = pattern.replace(/\/\{\w+\?\}$/, '');
    const whole = pattern.replace(/\{(\w+)(?:\.\.\.|\?)\}/g, '{$1}');
    const paths = short === pattern ? [whole] : [short, whole];
    const { summary, query = {}, body, answers } = OPERATIONS[`${method} ${pattern}`] ?? UNKNOWN;
    return paths.map((path) => ({
      operationId: nameOf(method, path),
      method,
      path: `${apiRoot}${path}`,
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      summary,
      query,
      ...(body === undefined ? {} : { body }),
      answers,
    }));
  });
}

const UNKNOWN: ForgeOperation = { summary: 'Passed to the code forge as it is', answers: {} };

/** `GET /repos/{owner}/{repo}/pulls` is `forgeGetReposOwnerRepoPulls`. */
function nameOf(method: string, path: string): string {
  const words = `${method.toLowerCase()} ${path}`.split(/[^A-Za-z0-9]+/);
  return `forge${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}`;
}
