import { expect } from 'chai';
import { fault, isFault } from '../../../lib/base/faults.ts';
import type { RefusalCause, UpstreamFaultKind } from '../../../lib/upstream/contract/provider.ts';
import { findAlert, toClientFault } from '../../../lib/upstream/host/client-fault.ts';
import { classifyStatus, isUpstreamFault, upstreamFault } from '../../../lib/upstream/host/fault.ts';

const kinds: readonly (readonly [
  kind: UpstreamFaultKind,
  code: string,
  retryable: boolean,
  alert: string | undefined,
])[] = [
  ['request', 'upstream_refused', false, undefined],
  [
    'missing',
    'upstream_failed',
    true,
    'an upstream does not know what a route asks for: its model, path or parameters',
  ],
  ['auth', 'upstream_failed', true, 'an upstream refuses our key'],
  ['quota', 'upstream_failed', true, 'our account at an upstream is out of money or quota'],
  ['rate', 'upstream_failed', true, undefined],
  ['overloaded', 'upstream_failed', true, undefined],
  ['server', 'upstream_failed', true, undefined],
  ['network', 'upstream_failed', true, undefined],
  ['timeout', 'upstream_timeout', true, undefined],
  ['protocol', 'upstream_failed', true, undefined],
];

const statuses: readonly (readonly [status: number, kind: UpstreamFaultKind])[] = [
  [200, 'protocol'],
  [302, 'protocol'],
  [400, 'request'],
  [401, 'auth'],
  [402, 'quota'],
  [403, 'auth'],
  [404, 'missing'],
  [405, 'missing'],
  [410, 'missing'],
  [408, 'timeout'],
  [413, 'request'],
  [422, 'request'],
  [421, 'server'],
  [424, 'server'],
  [425, 'server'],
  [429, 'rate'],
  [499, 'server'],
  [500, 'server'],
  [502, 'server'],
  [503, 'overloaded'],
  [504, 'server'],
  [520, 'server'],
  [529, 'overloaded'],
  [600, 'protocol'],
];

describe('faults of upstreams', () => {
  for (const [kind, code, retryable, alert] of kinds) {
    it(`shows ${kind} as ${code}${alert ? ' and alerts the operator' : ''}`, () => {
      const thrown = upstreamFault(kind, 'their own words', { status: 418 });
      const shown = toClientFault(thrown);
      expect(shown.output.statusCode).to.equal(502);
      expect(shown.data).to.include({ code, retryable });
      expect(shown.message).not.to.include('their own words');
      expect(shown.cause).to.equal(thrown);
      expect(findAlert(thrown)).to.equal(alert);
      expect(findAlert(upstreamFault(kind, 'x', { status: 404 }))).to.equal(alert);
    });
  }

  const causes: readonly (readonly [about: RefusalCause, code: string, words: string])[] = [
    ['length', 'upstream_too_long', 'too long for the model. Shorten it or lower `max_tokens`'],
    ['content', 'upstream_content', "provider's content rules do not allow this request"],
    ['image', 'upstream_picture', 'could not read an image'],
  ];
  for (const [about, code, words] of causes) {
    it(`tells the client what to mend when a request is refused for its ${about}, and not to retry`, () => {
      const shown = toClientFault(upstreamFault('request', 'their own words', { about }));
      expect(shown.output.statusCode).to.equal(502);
      expect(shown.data).to.include({ code, retryable: false });
      expect(shown.message).to.include(words);
      expect(toClientFault(upstreamFault('server', 'x', { about })).data?.code).to.equal('upstream_failed');
    });
  }

  it('shows a cause that it does not know as a plain refusal', () => {
    const odd = upstreamFault('request', 'x', { about: 'toString' as RefusalCause });
    expect(toClientFault(odd).data?.code).to.equal('upstream_refused');
  });

  for (const status of [500, 502, 503, 529, 499]) {
    it(`${status >= 500 ? 'alerts' : 'does not alert'} the operator at status ${status}`, () => {
      const alert = findAlert(upstreamFault(classifyStatus(status), 'x', { status }));
      expect(alert).to.equal(status >= 500 ? 'an upstream is failing on its side' : undefined);
    });
  }

  it('does not alert the operator of a refusal with status 500', () => {
    expect(findAlert(upstreamFault('request', 'too long', { status: 500, about: 'length' }))).to.equal(undefined);
  });

  for (const [status, kind] of statuses) {
    it(`takes status ${status} for ${kind}`, () => expect(classifyStatus(status)).to.equal(kind));
  }

  it('makes an error with one short line of detail', () => {
    expect(upstreamFault('server', 'a\u0000\u001bb').message).to.equal('server: a b');
    const made = upstreamFault('server', ` <html>\r\n\t<b>${'no '.repeat(10_000)}</b>\u0000`, { status: 500 });
    expect(made).to.be.an('error').with.property('name', 'UpstreamFault');
    expect(made).to.include({ kind: 'server', status: 500 });
    expect(made.detail).to.match(/^<html> <b>no no .{480,490}…$/);
    expect(made.message).to.equal(`server (500): ${made.detail}`);
    expect('status' in upstreamFault('network', 'x')).to.equal(false);
  });

  it('shows no image that an upstream repeats, by its URL or as bare digits', () => {
    const digits = `${'Ab+/'.repeat(40)}==`;
    const made = upstreamFault('request', `data:image/png;base64,AAAA is bad, and ${digits} too; abc/def is kept`);
    expect(made.detail).to.equal('[bytes] is bad, and [bytes] too; abc/def is kept');
  });

  it('knows a fault by its shape', () => {
    const foreign = Object.assign(new Error('x'), { name: 'UpstreamFault', kind: 'rate', detail: 'x' });
    expect(isUpstreamFault(foreign)).to.equal(true);
    expect(isUpstreamFault(upstreamFault('rate', 'x'))).to.equal(true);
    for (const other of [
      new Error('x'),
      Object.assign(new Error('x'), { kind: 'rate' }),
      null,
      'rate',
      { name: 'UpstreamFault', kind: 'rate' },
    ]) {
      expect(isUpstreamFault(other)).to.equal(false);
    }
    expect(isUpstreamFault(Object.assign(new Error('x'), { name: 'UpstreamFault', kind: 'toString' }))).to.equal(false);
  });

  it('takes whatever else a plugin throws for a failed upstream, and leaves a fault as it is', () => {
    for (const thrown of [new TypeError('x is undefined'), 'text', undefined, null]) {
      const shown = toClientFault(thrown);
      expect(isFault(shown)).to.equal(true);
      expect(shown.data?.code).to.equal('upstream_failed');
      expect(shown.message).to.equal('The upstream provider failed.');
    }
    const own = fault('shutting_down');
    expect(toClientFault(own)).to.equal(own);
  });
});
