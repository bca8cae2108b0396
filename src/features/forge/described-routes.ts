import { ROUTES } from './routes.ts';

/** An operation of the forge as an OpenAPI document names it. */
export interface DescribedRoute {
  method: string;
  /** From the root of this host, with its parameters in braces. */
  path: string;
  /** The names in braces. */
  parameters: string[];
}

/**
 * The documented operations, below the API root; one whose last parameter may be left out is two
 * paths.
 */
export function describeRoutes(apiRoot: string): DescribedRoute[] {
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
