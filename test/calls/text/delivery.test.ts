import { expect } from 'chai';
import { createDelivery, type Delivery } from '../../../lib/calls/text/delivery.ts';
import type { Pressure } from '../../../lib/stream/drive.ts';
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
  let writes: (readonly StreamPart[])[];
  let beats: number;
  let pressure: Pressure;
  let input: number;

  function open(buffered = false): Delivery {
    [writes, beats, pressure, input] = [[], 0, undefined, 11];
    const output = {
      live: true,
      open: () => undefined,
      write(parts: readonly StreamPart[]) {
        writes.push([...parts]);
        return pressure;
      },
      keepAlive() {
        beats += 1;
      },
      end: () => undefined,
    };
    return createDelivery(output, { replyId: 'req_1', model: 'model-a', buffered, inputTokens: () => input });
  }
  const complete = (delivery: Delivery) => delivery.complete(FINISH as FinishPart, BILL, PAID);

  it('writes nothing before the first fragment, then the head in front of what it kept', () => {
    const delivery = open();
    delivery.write([START, usage(9, 0)]);
    delivery.write([OPEN]);
    expect([writes, delivery.begun]).to.deep.equal([[], false]);
    delivery.write([delta('a'), delta('b')]);
    expect(delivery.begun).to.equal(true);
    expect(writes).to.deep.equal([[...HEAD, OPEN, delta('a'), delta('b')]]);
  });

  it('names the input tokens as they are known at the first fragment', () => {
    const delivery = open();
    delivery.write([START, OPEN]);
    input = 7;
    delivery.write([delta('a')]);
    expect(writes[0]?.[0]).to.deep.equal(usage(7, 0));
  });

  it('passes the rest on as it comes, and says when the output is full', async () => {
    const delivery = open();
    delivery.write([START, OPEN, delta('a')]);
    const parts = [delta('b'), delta('c')];
    pressure = Promise.resolve();
    expect(delivery.write(parts)).to.equal(pressure);
    pressure = undefined;
    expect(delivery.write([CLOSE])).to.equal(undefined);
    expect(writes.slice(1)).to.deep.equal([parts, [CLOSE]]);
  });

  it('says when the output is full at the first fragment', () => {
    const delivery = open();
    pressure = Promise.resolve();
    expect(delivery.write([START, OPEN])).to.equal(undefined);
    expect(delivery.write([delta('a')])).to.equal(pressure);
  });

  it('ends with the usage that is billed, the finish and the bill', () => {
    const delivery = open();
    delivery.write([START, OPEN, delta('a'), CLOSE]);
    complete(delivery);
    expect(writes.at(-1)).to.deep.equal(TAIL);
  });

  it('gives an answer without text one empty block', () => {
    const delivery = open();
    delivery.write([START, usage(9, 5)]);
    complete(delivery);
    expect(writes).to.deep.equal([[...HEAD, OPEN, CLOSE, ...TAIL]]);
  });

  it('gives an answer whose block stayed empty no second one', () => {
    const delivery = open();
    delivery.write([START, OPEN, CLOSE]);
    complete(delivery);
    expect(writes).to.deep.equal([[...HEAD, OPEN, CLOSE, ...TAIL]]);
  });

  it('forgets what an upstream sent that failed before its text, and names the model that answers', () => {
    const delivery = open();
    delivery.write([START, OPEN]);
    delivery.restart('model-b');
    delivery.write([START, OPEN, delta('a')]);
    const head = HEAD.map((part) => (part.type === 'start' ? { ...part, model: 'model-b' } : part));
    expect(writes).to.deep.equal([[...head, OPEN, delta('a')]]);
  });

  it('keeps everything of a buffered answer back until it is complete', () => {
    const delivery = open(true);
    delivery.write([START, OPEN, delta('a')]);
    delivery.write([delta('b'), CLOSE]);
    expect([writes, delivery.begun]).to.deep.equal([[], false]);
    delivery.flush();
    expect(writes).to.deep.equal([[...HEAD, OPEN, delta('a'), delta('b'), CLOSE]]);
    delivery.flush();
    complete(delivery);
    expect(writes.slice(1)).to.deep.equal([TAIL]);
  });

  it('delivers with its end what is still kept back then', () => {
    const delivery = open(true);
    delivery.write([START, OPEN, delta('a'), CLOSE]);
    complete(delivery);
    expect(writes).to.deep.equal([[...HEAD, OPEN, delta('a'), CLOSE, ...TAIL]]);
  });

  it('has nothing to flush of an answer without text', () => {
    const delivery = open(true);
    delivery.write([START, usage(1, 1)]);
    delivery.flush();
    expect(writes).to.deep.equal([]);
    complete(delivery);
    expect(writes).to.deep.equal([[...HEAD, OPEN, CLOSE, ...TAIL]]);
  });

  it('says that it begins before the first write, once, and in its start how smart chose', () => {
    open();
    const smart = { tier: 'lite', score: 3, signals: ['short'] } as const;
    const begun: number[] = [];
    const output = { live: true, open() {}, write: (parts: readonly StreamPart[]) => void writes.push(parts) };
    const delivery = createDelivery(
      { ...output, keepAlive() {}, end() {} },
      {
        replyId: 'req_1',
        model: 'model-a',
        smart,
        buffered: false,
        inputTokens: () => 1,
        onBegin: () => void begun.push(writes.length),
      },
    );
    delivery.write([START, OPEN, delta('a')]);
    delivery.write([delta('b')]);
    complete(delivery);
    expect(begun).to.deep.equal([0]);
    expect(writes[0]?.[1]).to.deep.equal({ type: 'start', id: 'req_1', model: 'model-a', smart });
    expect(writes.slice(1)).to.deep.equal([[delta('b')], TAIL]);
  });

  it('passes heartbeats on', () => {
    open().keepAlive();
    expect(beats).to.equal(1);
  });
});
