import { expect } from 'chai';
import { type Charge, emptyWallet } from '../../lib/ledger/decide.ts';
import { createMeter } from '../../lib/stream/meter.ts';
import type { HeldCall } from '../../lib/text/call.ts';
import { createRunningCalls } from '../../lib/text/overshoot.ts';
import { delta, usage } from './stage.ts';

const RUB = 1_000_000n;

/** 1000 tokens of input are held at 1000 RUB per million, 512 of output at 5000: 3.56 RUB. */
function running(wallet: string, { trusted = true } = {}) {
  const meter = createMeter({
    trusted,
    inputEstimate: 1000,
    inputMax: 100_000,
    outputMax: trusted ? 500 : Number.POSITIVE_INFINITY,
  });
  const call = {
    context: { accountId: wallet },
    model: { price: { input: 1000n * RUB, output: 5000n * RUB } },
    hold: { charge: { reserved: 3_560_000n } as Charge, wallet: emptyWallet(wallet) },
    held: { input: 1000, output: 512 },
    meter,
  };
  return call as typeof call & HeldCall;
}

describe('overshoot of running calls', () => {
  it('is nothing while a call keeps within its hold', () => {
    const calls = createRunningCalls();
    expect(calls.overshoot('w')).to.equal(0n);
    const call = running('w');
    calls.add(call);
    expect(calls.overshoot('w')).to.equal(0n);
    call.meter.observe([usage(1000, 500), delta('x'.repeat(100_000))]);
    expect(calls.overshoot('w')).to.equal(0n);
  });

  it('is what is used above the hold, not above one side of it', () => {
    const calls = createRunningCalls();
    const call = running('w');
    calls.add(call);
    call.meter.observe([usage(3000, 0)]);
    expect(calls.overshoot('w')).to.equal(0n);
    call.meter.observe([usage(5000, 1)]);
    expect(calls.overshoot('w')).to.equal(5_005_000n - 3_560_000n);
  });

  it('counts the text of a buffered answer above its max_tokens', () => {
    const calls = createRunningCalls();
    const call = running('w', { trusted: false });
    calls.add(call);
    call.meter.observe([delta('x'.repeat(4 * 1512))]);
    expect(calls.overshoot('w')).to.equal(5000n * 1000n);
  });

  it('is the sum over the running calls of a wallet, and of no other', () => {
    const calls = createRunningCalls();
    const [a, b, other] = [running('w'), running('w'), running('v')];
    for (const call of [a, b, other]) {
      calls.add(call);
      call.meter.observe([usage(4560, 0)]);
    }
    expect([calls.overshoot('w'), calls.overshoot('v')]).to.deep.equal([2n * RUB, RUB]);
    calls.remove(a);
    expect([calls.overshoot('w'), calls.overshoot('v')]).to.deep.equal([RUB, RUB]);
    for (const call of [b, b, other]) calls.remove(call);
    expect([calls.overshoot('w'), calls.overshoot('v')]).to.deep.equal([0n, 0n]);
  });
});
