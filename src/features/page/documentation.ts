import { ETAG, type FeatureDocumentation } from '../../http/openapi/documentation.ts';

/** @param base `main.base` */
export function pageDocumentation(base: string): FeatureDocumentation {
  return {
    tag: 'Page',
    description: 'The built-in page.',
    operations: {
      [`GET ${base}/`]: {
        operationId: 'showPage',
        answers: { 200: { description: 'the page', contentType: 'text/html', headers: ETAG } },
      },
      [`GET ${base}/texts`]: {
        operationId: 'getTexts',
        answers: {
          200: {
            description: 'by kind, each by its English',
            contentType: 'application/json',
            headers: ETAG,
            example: { page: { Installed: '已安装' } },
          },
        },
        refusals: { 404: 'there is no such language' },
      },
      [`GET ${base}`]: {
        operationId: 'findPage',
        answers: { 302: { description: 'leads to the page', headers: { Location: 'the page' } } },
      },
    },
  };
}
