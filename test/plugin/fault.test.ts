import { expect } from 'chai';
import { fault, isFault } from '../../lib/faults.ts';
import type { UpstreamFaultKind } from '../../lib/plugin/contract.ts';
import {
  isOperatorAlert,
  isUpstreamFault,
  kindOfStatus,
  toClientFault,
  upstreamFault,
} from '../../lib/plugin/fault.ts';

const kinds: readonly (readonly [kind: UpstreamFaultKind, code: string, retryable: boolean, alert: boolean])[] = [
  ['request', 'upstream_refused', false, false],
  ['auth', 'upstream_failed', true, true],
  ['quota', 'upstream_failed', true, true],
  ['rate', 'upstream_failed', true, false],
  ['overloaded', 'upstream_failed', true, false],
  ['server', 'upstream_failed', true, false],
  ['network', 'upstream_failed', true, false],
  ['timeout', 'upstream_timeout', true, false],
  ['protocol', 'upstream_failed', true, false],
];

const statuses: readonly (readonly [status: number, kind: UpstreamFaultKind])[] = [
  [200, 'protocol'],
  [302, 'protocol'],
  [400, 'request'],
  [401, 'auth'],
  [402, 'quota'],
  [403, 'auth'],
  [404, 'request'],
  [408, 'timeout'],
  [413, 'request'],
  [422, 'request'],
  [429, 'rate'],
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
      const thrown = upstreamFault(kind, 'their own words', 418);
      const shown = toClientFault(thrown);
      expect(shown.output.statusCode).to.equal(502);
      expect(shown.data).to.include({ code, retryable });
      expect(shown.message).not.to.include('their own words');
      expect(shown.cause).to.equal(thrown);
      expect(isOperatorAlert(kind)).to.equal(alert);
    });
  }

  for (const [status, kind] of statuses) {
    it(`takes status ${status} for ${kind}`, () => expect(kindOfStatus(status)).to.equal(kind));
  }

  it('makes an error with one short line of detail', () => {
    const made = upstreamFault('server', ` <html>\r\n\t<b>${'no '.repeat(10_000)}</b>\u0000`, 500);
    expect(made).to.be.an('error').with.property('name', 'UpstreamFault');
    expect(made).to.include({ kind: 'server', status: 500 });
    expect(made.detail).to.match(/^<html> <b>no no .{480,490}…$/);
    expect(made.message).to.equal(`server (500): ${made.detail}`);
    expect('status' in upstreamFault('network', 'x')).to.equal(false);
  });

  it('knows a fault by its shape', () => {
    const foreign = Object.assign(new Error('x'), { name: 'UpstreamFault', kind: 'rate', detail: 'x' });
    expect(isUpstreamFault(foreign)).to.equal(true);
    expect(isUpstreamFault(upstreamFault('rate', 'x'))).to.equal(true);
    for (const other of [new Error('x'), null, 'rate', { name: 'UpstreamFault', kind: 'rate' }]) {
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
