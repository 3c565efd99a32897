// Searching the calls of an account by parts: every call is found once, whatever its part, and no part reads too much.
import { expect } from 'chai';
import { searchCharges } from '../../lib/console/charge-search.ts';
import type { Charge, Entry } from '../../lib/money/decide.ts';
import type { ChargePage, JournalPart } from '../../lib/store/ports/ledger.ts';

const CALLS = 45_000;
const RARE = 9000;

/** A call a second, each with two entries; every 9,000th is of a rare model. */
function makeLedger(byTime = true) {
  const reads: (JournalPart | undefined)[] = [];
  const all = Array.from({ length: CALLS }, (_, at) => ({
    id: `call-${at}`,
    createdAt: at * 1000,
    isRare: at % RARE === 5,
  }));
  const charges = async (_: string, { filter = {}, before, limit, part }: ChargePage) => {
    reads.push(part);
    const { above = 0, upTo = 2 * CALLS, from: start = 0, to: end = CALLS * 1000 } = part ?? {};
    const { from = 0, to = Number.MAX_SAFE_INTEGER, model } = filter;
    const under = before === undefined ? CALLS : Number(before.slice(5));
    const found = all.filter(
      ({ createdAt, isRare }, at) =>
        at < under &&
        (byTime ? createdAt >= start && createdAt < end : 2 * at + 1 > above && 2 * at + 1 <= upTo) &&
        createdAt >= from &&
        createdAt < to &&
        (model === undefined || isRare),
    );
    return found.reverse().slice(0, limit) as unknown as readonly Charge[];
  };
  const entries = async (_: string, { before = 0 }: { before?: number }) =>
    before <= 1 ? [] : [{ at: Math.floor((before - 1) / 2) * 1000 } as Entry];
  const wallet = async () => ({ seq: 2 * CALLS }) as never;
  return { reads, ledger: { charges, entries, wallet } };
}

describe('a search of calls by parts', () => {
  for (const byTime of [true, false])
    it(`finds every call once, by ${byTime ? 'time' : 'number'}, and says where to go on`, async () => {
      const { ledger, reads } = makeLedger(byTime);
      const ids: string[] = [];
      let upTo: number | undefined;
      let parts = 0;
      do {
        const found = await searchCharges(ledger, 'acc', { filter: { model: 'rare' }, limit: 50, upTo });
        ids.push(...found.charges.map(({ id }) => id));
        upTo = found.rest?.upTo;
        parts += 1;
      } while (upTo !== undefined);
      expect(ids).to.deep.equal([4, 3, 2, 1, 0].map((at) => `call-${at * RARE + 5}`));
      expect(parts).to.equal(5);
      const lengths = reads.map((part) => Math.min(part?.upTo ?? 0, 2 * CALLS) - (part?.above ?? 0));
      expect(Math.max(...lengths)).to.equal(20_000);
    });

  it('goes on within a part by the last call of a page', async () => {
    const { ledger } = makeLedger();
    const filter = { key: 'key_1' };
    const first = await searchCharges(ledger, 'acc', { filter, limit: 3 });
    const before = first.charges.at(-1)?.id;
    const { charges } = await searchCharges(ledger, 'acc', { filter, limit: 3, before, upTo: first.upTo });
    expect([...first.charges, ...charges].map(({ id }) => id)).to.deep.equal(
      [1, 2, 3, 4, 5, 6].map((at) => `call-${CALLS - at}`),
    );
  });

  it('passes by the parts after the time that is asked for', async () => {
    const { ledger, reads } = makeLedger();
    const filter = { model: 'rare', from: 0, to: 10_000_000 };
    const { charges, rest } = await searchCharges(ledger, 'acc', { filter, limit: 50 });
    expect([charges.map(({ id }) => id), rest?.upTo]).to.deep.equal([['call-9005'], 10_000]);
    expect(reads).to.have.length(1);
  });

  it('reads everything if asked to, or without a filter', async () => {
    const { ledger, reads } = makeLedger();
    const found = await searchCharges(ledger, 'acc', { filter: { model: 'rare' }, limit: 50, isWhole: true });
    expect(found.charges).to.have.length(5);
    expect((await searchCharges(ledger, 'acc', { filter: {}, limit: 5 })).rest).to.equal(undefined);
    expect(reads).to.deep.equal([undefined, undefined]);
  });
});
