import type { FeatureDocumentation } from '../../http/openapi/documentation.ts';

/** @param base `main.base` */
export function pageDocumentation(base: string): FeatureDocumentation {
  return {
    tag: 'Page',
    description: 'The built-in page.',
    operations: {
      [`GET ${base}/`]: {
        operationId: 'showPage',
        answers: { 200: { description: 'the page', contentType: 'text/html' } },
      },
      [`GET ${base}/texts`]: {
        operationId: 'getTexts',
        answers: {
          200: { description: 'by kind, each by its English', contentType: 'application/json' },
        },
      },
      [`GET ${base}`]: {
        operationId: 'findPage',
        answers: { 302: { description: 'leads to the page' } },
      },
    },
  };
}
