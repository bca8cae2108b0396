import type { PassedOperation } from '../../http/openapi.ts';
import { ROUTES } from './routes.ts';

/**
 * The documented operations, below the API root; one whose last parameter may be left out is two
 * paths.
 */
export function describeRoutes(apiRoot: string): PassedOperation[] {
  return ROUTES.flatMap(({ method, pattern }) => {
    const short = pattern.replace(/\/\{\w+\?\}$/, '');
    const whole = pattern.replace(/\{(\w+)(?:\.\.\.|\?)\}/g, '{$1}');
    const paths = short === pattern ? [whole] : [short, whole];
    return paths.map((path) => ({
      method,
      path: `${apiRoot}${path}`,
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    }));
  });
}
