import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { Delivery, type DeliveryListener, type DeliveryOptions } from '../../../lib/calls/text/delivery.ts';
import type { FinishPart, StreamPart } from '../../../lib/stream/part.ts';
import { CLOSE, delta, FINISH, OPEN, START, usage } from './stage.ts';

const PAID = {
  charged: 600_000n,
  reserved: 900_000n,
  balance: 5n,
  confirmed: true,
  price: { input: 40n, output: 240n },
};
const BILL = { input: 7, output: 3 };
const BILLING: StreamPart = {
  type: 'billing',
  charged: 600_000n,
  reserved: 900_000n,
  balance: 5n,
  priceInput: 40n,
  priceOutput: 240n,
};
const HEAD: readonly StreamPart[] = [usage(11, 0), { type: 'start', id: 'req_1', model: 'model-a' }];
const TAIL: readonly StreamPart[] = [usage(7, 3), FINISH, BILLING];

describe('delivery', () => {
  let input: number;

  function open({ onText, onBegin, ...options }: Partial<DeliveryOptions & DeliveryListener> = {}): Delivery {
    input = 11;
    return new Delivery(
      { replyId: 'req_1', model: 'model-a', buffered: false, ...options },
      { prompt: () => ({ input }), onText: onText ?? (() => undefined), onBegin: onBegin ?? (() => undefined) },
    );
  }
  const complete = (delivery: Delivery) => delivery.complete(FINISH as FinishPart, BILL, PAID);

  it('passes nothing on before the first fragment, then the head in front of what it kept', () => {
    const delivery = open();
    expect(delivery.push([START, usage(9, 0)])).to.deep.equal([]);
    expect(delivery.push([OPEN])).to.deep.equal([]);
    expect([delivery.begun, delivery.hasText]).to.deep.equal([false, false]);
    expect(delivery.push([delta('a'), delta('b')])).to.deep.equal([...HEAD, OPEN, delta('a'), delta('b')]);
    expect([delivery.begun, delivery.hasText]).to.deep.equal([true, true]);
  });

  it('names the input tokens as they are known at the first fragment', () => {
    const delivery = open();
    delivery.push([START, OPEN]);
    input = 7;
    expect(delivery.push([delta('a')])[0]).to.deep.equal(usage(7, 0));
  });

  it('passes the rest on as it comes', () => {
    const delivery = open();
    delivery.push([START, OPEN, delta('a')]);
    const parts = [delta('b'), delta('c')];
    expect(delivery.push(parts)).to.equal(parts);
    expect(delivery.push([CLOSE])).to.deep.equal([CLOSE]);
  });

  it('keeps the ending, and completes with the usage that is billed, the finish and the bill', () => {
    const delivery = open();
    delivery.push([START, OPEN, delta('a')]);
    expect(delivery.push([CLOSE, FINISH])).to.deep.equal([CLOSE]);
    expect(delivery.ending).to.equal(FINISH);
    expect(complete(delivery)).to.deep.equal(TAIL);
  });

  it('gives an answer without text one empty block', () => {
    const delivery = open();
    delivery.push([START, usage(9, 5), FINISH]);
    expect(complete(delivery)).to.deep.equal([...HEAD, OPEN, CLOSE, ...TAIL]);
  });

  it('gives an answer whose block stayed empty no second one', () => {
    const delivery = open();
    delivery.push([START, OPEN, CLOSE, FINISH]);
    expect(complete(delivery)).to.deep.equal([...HEAD, OPEN, CLOSE, ...TAIL]);
  });

  it('passes nothing on of an answer that failed before its text', () => {
    const delivery = open();
    const error: StreamPart = { type: 'error', fault: fault('upstream_failed') };
    expect(delivery.push([START, OPEN, error])).to.deep.equal([]);
    expect([delivery.ending, delivery.begun]).to.deep.equal([error, false]);
  });

  it('passes on what an answer had before it failed', () => {
    const delivery = open();
    delivery.push([START, OPEN, delta('a')]);
    const error: StreamPart = { type: 'error', fault: fault('upstream_failed') };
    expect(delivery.push([delta('b'), error])).to.deep.equal([delta('b')]);
    expect(delivery.ending).to.equal(error);
  });

  it('keeps everything of a buffered answer back until it is whole', () => {
    const delivery = open({ buffered: true });
    expect(delivery.push([START, OPEN, delta('a')])).to.deep.equal([]);
    expect(delivery.push([delta('b'), CLOSE])).to.deep.equal([]);
    expect([delivery.begun, delivery.hasText]).to.deep.equal([false, true]);
    expect(delivery.push([FINISH])).to.deep.equal([...HEAD, OPEN, delta('a'), delta('b'), CLOSE]);
    expect(complete(delivery)).to.deep.equal(TAIL);
  });

  it('passes nothing on of a buffered answer that failed', () => {
    const delivery = open({ buffered: true });
    const error: StreamPart = { type: 'error', fault: fault('upstream_failed') };
    expect(delivery.push([START, OPEN, delta('a'), error])).to.deep.equal([]);
  });

  it('cuts the text of a buffered answer into chunks', () => {
    const delivery = open({ buffered: true });
    const long = 'One sentence. And another one, which is long. '.repeat(100);
    const passed = delivery.push([START, OPEN, delta(long), CLOSE, FINISH]);
    const texts = passed.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
    expect(texts.join('')).to.equal(long);
    expect(texts).to.have.length(200);
  });

  it('says once when text arrives and once when it is passed on, and how smart chose', () => {
    const smart = { tier: 'lite', score: 3, signals: ['short'] } as const;
    const events: string[] = [];
    const delivery = open({
      smart,
      buffered: true,
      onText: () => void events.push('text'),
      onBegin: () => void events.push('begin'),
    });
    delivery.push([START, OPEN, delta('a')]);
    delivery.push([delta('b')]);
    events.push('later');
    const passed = delivery.push([CLOSE, FINISH]);
    complete(delivery);
    expect(events).to.deep.equal(['text', 'later', 'begin']);
    expect(passed[1]).to.deep.equal({ type: 'start', id: 'req_1', model: 'model-a', smart });
  });

  it('knows the id that the upstream gave the answer, once it has started', () => {
    const delivery = open();
    delivery.push([{ type: 'start', id: 'theirs' }]);
    delivery.push([OPEN, delta('a')]);
    expect(delivery.answerId).to.equal('theirs');
    const nameless = open();
    nameless.push([{ type: 'start' }, OPEN, delta('a')]);
    expect(nameless.answerId).to.equal('');
  });

  it('bills with the prices of audio and the cache for what there was of it', () => {
    const rates = { input: 40n, audio: 90n, cacheRead: 4n, cacheWrite: 50n, cacheWrite1h: 80n, output: 240n };
    const bands = [{ above: 12, input: 80n, cacheRead: 8n, cacheWrite: 100n, cacheWrite1h: 160n, output: 480n }];
    const bill = (used: object, price: object = rates) =>
      open()
        .complete(FINISH as FinishPart, { ...BILL, ...used }, { ...PAID, price: price as typeof PAID.price })
        .at(-1);
    expect(bill({ audio: 0, cacheRead: 0, cacheWrite: 0 })).to.deep.equal(BILLING);
    expect(bill({ audio: 2 })).to.deep.equal({ ...BILLING, priceAudio: 90n });
    expect(bill({ cacheRead: 2 })).to.deep.equal({ ...BILLING, priceCacheRead: 4n });
    expect(bill({ cacheWrite: 2 })).to.deep.equal({ ...BILLING, priceCacheWrite: 50n });
    expect(bill({ cacheWrite1h: 2 })).to.deep.equal({ ...BILLING, priceCacheWrite1h: 80n });
    expect(bill({ cacheRead: 6 }, { ...rates, bands })).to.deep.equal({
      ...BILLING,
      priceInput: 80n,
      priceCacheRead: 8n,
      priceOutput: 480n,
    });
  });
});
