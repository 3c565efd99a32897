// How the smart model chose: in one place of each dialect's reply and stream, and nowhere when it was not asked for.
import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import type { SmartRouting } from '../../../lib/base/smart-tiers.ts';
import { createCollector } from '../../../lib/stream/collect.ts';
import type { FinishReason, StreamPart } from '../../../lib/stream/part.ts';
import { parseEvents } from '../../../testkit/client.ts';
import { ANSWERED, renderAll, SUBJECTS } from './subject.ts';

const ROUTING: SmartRouting = { tier: 'lite', score: 13.7, signals: ['short', 'translate'] };

function partsOf({ smart, reason = 'stop' }: { smart?: SmartRouting; reason?: FinishReason }): readonly StreamPart[] {
  return [
    { type: 'usage', input: 7, output: 0 },
    { type: 'start', id: 'req_1', model: 'model-a', ...(smart && { smart }) },
    { type: 'block-start', index: 0, block: { type: 'text' } },
    { type: 'block-delta', index: 0, text: 'Hello' },
    { type: 'block-end', index: 0 },
    { type: 'usage', input: 7, output: 2 },
    { type: 'finish', reason },
    { type: 'billing', charged: 1n, reserved: 2n, balance: 3n, priceInput: 4n, priceOutput: 5n },
  ];
}

const keysOf = (value: object) => Object.keys(value);

/** Every routing in a value, however deep. */
function routingsIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === 'smart_routing' ? [item] : routingsIn(item)));
}

describe('the contract of dialects: smart', () => {
  for (const subject of SUBJECTS) {
    const reply = (options: { smart?: SmartRouting; reason?: FinishReason }) => {
      const collector = createCollector();
      collector.write(partsOf(options));
      return subject.dialect.reply(collector.reply(), ANSWERED) as Record<string, unknown>;
    };
    const stream = (options: { smart?: SmartRouting; reason?: FinishReason }) =>
      parseEvents(renderAll(subject, [partsOf(options)]));

    describe(subject.name, () => {
      for (const reason of ['stop', 'length', 'filter'] as const) {
        it(`is a key of a reply that ended with ${reason}`, () => {
          const plain = reply({ reason });
          const routed = reply({ reason, smart: ROUTING });
          expect(keysOf(routed)).to.have.members([...keysOf(plain), 'smart_routing']);
          expect(routed.smart_routing).to.deep.equal(ROUTING);
          expect(routingsIn(plain)).to.deep.equal([]);
        });

        it(`stands once in a stream that ended with ${reason}`, () => {
          const plain = stream({ reason });
          const routed = stream({ reason, smart: ROUTING });
          expect(routed.map(({ event }) => event)).to.deep.equal(plain.map(({ event }) => event));
          expect(routingsIn(plain)).to.deep.equal([]);
          const bearers = routed.filter(({ data }) => routingsIn(data).length > 0);
          const [bearer] = bearers;
          if (subject.name === 'responses') {
            // Each event with the whole response has it.
            expect(bearers.map(({ event }) => event)).to.deep.equal(
              [routed[0], routed[1], routed.at(-1)].map((each) => each?.event),
            );
            for (const { data } of bearers) expect(data.response.smart_routing).to.deep.equal(ROUTING);
            return;
          }
          expect(bearers).to.have.length(1);
          if (subject.name === 'message') {
            expect(bearer?.event).to.equal('message_start');
            expect(bearer?.data.message.smart_routing).to.deep.equal(ROUTING);
          } else {
            expect(bearer).to.equal(routed.at(-2));
            expect(bearer?.data.choices[0].finish_reason).to.be.a('string');
            expect(bearer?.data.smart_routing).to.deep.equal(ROUTING);
          }
        });
      }

      it('is known from the start of an answer that fails, but of a chat', () => {
        const broken = [...partsOf({ smart: ROUTING }).slice(0, 4), { type: 'error', fault: fault('upstream_failed') }];
        const events = parseEvents(renderAll(subject, [broken as readonly StreamPart[]]));
        const times = { message: 1, chat: 0, responses: 3 }[subject.name];
        expect(routingsIn(events)).to.deep.equal(Array(times).fill(ROUTING));
      });
    });
  }
});
