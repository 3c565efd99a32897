// The tour of the pages on which operators change the catalog.
import type { At } from './page-tour-management.ts';

const UPSTREAM = '/admin/upstreams/sandbox';
const MODELS = '/admin/upstreams/{name}/models';
const LIST: readonly [string, true] = ['form[action$="/models"] button', true];

export function listCatalogStops<Stop>(at: At<Stop>): readonly Stop[] {
  const model = '/admin/catalog/model?id=sandbox-standard';
  return [
    at('/admin/upstreams/{name}', 'upstream', { path: UPSTREAM }),
    at('/admin/upstreams/{name}', 'upstream-tested', {
      path: UPSTREAM,
      does: [['form:has(#test-model) button', true]],
    }),
    at(MODELS, 'upstream-models', { path: UPSTREAM, does: [LIST] }),
    at(MODELS, 'upstream-prices', {
      path: UPSTREAM,
      does: [LIST, ['#more', 'gpt-x'], ['form:has(#more) button', true]],
    }),
    at('/admin/catalog/model', 'model', { path: model }),
    at('/admin/catalog/model', 'model-preview', {
      path: model,
      does: [
        ['#aliases', 'стандарт'],
        ['button[value=preview]', true],
      ],
    }),
  ];
}
