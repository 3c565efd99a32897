// What a request that is over counts as: its endpoint, its model, and how it ended.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import type { CountedRequest } from '../../lib/http/access-log.ts';
import { createRequestMetrics } from '../../lib/metrics/requests.ts';
import { parseExposition } from '../../testkit/exposition.ts';

const MODEL = { id: 'model-a', type: 'text', routes: [{ upstream: 'up' }] };
const OFF = { id: 'model-off', type: 'text', routes: [] };
const CATALOG = {
  models: [MODEL, OFF],
  byName: new Map([MODEL, OFF].map((model) => [model.id, model])),
} as unknown as Catalog;

const CHAT = '/api/v1/chat/completions';
const PAST: CountedRequest = {
  method: 'post',
  route: CHAT,
  status: 200,
  ms: 1500,
  aborted: false,
  bytes: 0,
  notes: { model: 'model-a' },
};

describe('request metrics', () => {
  async function look(...pasts: readonly Partial<CountedRequest>[]) {
    const registry = new Registry();
    const routes = () => [{ method: 'post', path: CHAT }];
    const { onRequestEnd: onPast, onBadHttp } = createRequestMetrics(registry, { catalog: () => CATALOG, routes });
    for (const past of pasts) onPast({ ...PAST, ...past });
    onBadHttp({ request_id: 'req_1', status: 431, reason: undefined });
    return parseExposition(await registry.metrics());
  }

  /** The labels of the one request that was counted. */
  async function counted(past: Partial<CountedRequest>) {
    const { samples } = await look(past);
    const found = samples.filter(({ name, value }) => name === 'tollgate_requests_total' && value > 0);
    expect(found.map(({ value }) => value)).to.deep.equal([1]);
    const { endpoint, model, status, outcome } = found[0]?.labels ?? {};
    return [endpoint, model, status, outcome];
  }

  const rows: readonly (readonly [name: string, past: Partial<CountedRequest>, labels: readonly string[]])[] = [
    ['an answer', {}, [CHAT, 'model-a', '200', 'ok']],
    [
      'a fault',
      { status: 402, notes: { model: 'model-a', fault: 'never_topped_up' } },
      [CHAT, 'model-a', '402', 'never_topped_up'],
    ],
    [
      'a fault that no table has',
      { status: 500, notes: { model: 'model-a', err: new Error('x') } },
      [CHAT, 'model-a', '500', 'internal'],
    ],
    [
      'a fault in the middle of an answer',
      { aborted: true, notes: { model: 'model-a', fault: 'upstream_truncated' } },
      [CHAT, 'model-a', '200', 'upstream_truncated'],
    ],
    ['a client that left', { notes: { model: 'model-a', ending: 'gone' } }, [CHAT, 'model-a', '200', 'gone']],
    ['a client that left before its call', { aborted: true, notes: {} }, [CHAT, 'unknown', '200', 'gone']],
    [
      'a client that left before its refusal',
      { status: 0, aborted: true, notes: { fault: 'invalid_key' } },
      [CHAT, 'unknown', '0', 'gone'],
    ],
    ['a model without a route', { notes: { model: 'model-off' } }, [CHAT, 'model-off', '200', 'ok']],
    [
      'a model that is none',
      { status: 400, notes: { model: 'x', fault: 'unknown_model' } },
      [CHAT, 'unknown', '400', 'unknown_model'],
    ],
    ['a read', { method: 'get', route: '/api/v1/balance', notes: {} }, ['/api/v1/balance', '', '200', 'ok']],
    [
      'a path that is none',
      { route: '/{p*}', status: 404, notes: { fault: 'not_found' } },
      ['other', '', '404', 'not_found'],
    ],
  ];
  for (const [name, past, labels] of rows) {
    it(`count ${name}`, async () => expect(await counted(past)).to.deep.equal(labels));
  }

  it('count internal faults separately, and malformed input by status', async () => {
    const own = { status: 500, notes: { err: new Error('x') } };
    const { sum } = await look(
      own,
      own,
      { status: 500, notes: { fault: 'internal' } },
      { notes: { fault: 'never_topped_up' } },
    );
    expect(sum('tollgate_internal_errors_total', { endpoint: CHAT })).to.equal(3);
    expect(sum('tollgate_malformed_requests_total', { status: '431' })).to.equal(1);
  });

  it('time only answers, separately for streams, and the first fragment per model in seconds', async () => {
    const { sum } = await look(
      {},
      { notes: { model: 'model-a', stream: true, first_ms: 250 } },
      { notes: { model: 'model-a', fault: 'upstream_truncated', first_ms: 500, doubt: 'none came' } },
      { aborted: true },
    );
    const seconds = (stream: boolean) =>
      ['count', 'sum'].map((what) => sum(`tollgate_request_duration_seconds_${what}`, { stream: `${stream}` }));
    expect([seconds(false), seconds(true)]).to.deep.equal([
      [1, 1.5],
      [1, 1.5],
    ]);
    const first = ['count', 'sum'].map((what) => sum(`tollgate_first_fragment_seconds_${what}`, { model: 'model-a' }));
    expect(first).to.deep.equal([2, 0.75]);
    expect(sum('tollgate_usage_estimated_total', { model: 'model-a' })).to.equal(1);
  });
});
