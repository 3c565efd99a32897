// The body of a call: refused by its type first, and held in memory only while it is read.
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createBodyParser } from '../../lib/api/body-parser.ts';
import { type CallBodyOptions, readCallBody } from '../../lib/api/call-body.ts';
import type { PaidRequest } from '../../lib/api/paid-route.ts';
import { isFault } from '../../lib/base/faults.ts';
import { createMemoryQuota } from '../../lib/http/memory-quota.ts';

const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });

describe('body of a call', () => {
  const parser = createBodyParser();
  let steps: unknown[];

  /** Reads a body, and notes what is asked meanwhile and how much memory is held then. */
  async function read(
    text: string,
    { type = 'application/json', admit }: { type?: string } & Partial<CallBodyOptions<'message'>>,
  ) {
    const budget = createMemoryQuota({ bytesMax: 1000, ownerBytesMax: 1000 });
    const bytes = Buffer.from(text);
    const headers = { 'content-type': type, 'content-length': String(bytes.length) };
    const req = Object.assign(Readable.from([bytes], { objectMode: false }), { headers });
    steps = [];
    const note = (step: string) => void steps.push([step, req.readableDidRead, budget.used()]);
    const readBody = async (whole: Uint8Array) => note(`repeat of ${Buffer.from(whole)}`);
    const paid = {
      request: { raw: { req } },
      services: { bodyLimits: {}, parser },
      reservation: budget.reserve('key'),
      call: { signal: new AbortController().signal },
      idempotency: { readBody },
    } as unknown as PaidRequest;
    const options = { format: 'message', admit: admit ?? (async (bytes?: number) => note(`admit ${bytes}`)) } as const;
    const outcome = await readCallBody(paid, options).catch((error: unknown) => error);
    note('after');
    return isFault(outcome) ? outcome.data?.code : outcome;
  }

  it('is admitted before it is read, and reserves memory until then', async () => {
    expect(await read(BODY, {})).to.deep.include({ model: 'm', messageCount: 1 });
    expect(steps).to.deep.equal([
      [`admit ${BODY.length}`, false, 0],
      [`repeat of ${BODY}`, true, BODY.length],
      ['after', true, 0],
    ]);
  });

  it('reserves no memory if it is refused', async () => {
    expect(await read('{', {})).to.equal('invalid_json');
    expect(steps.at(-1)).to.deep.equal(['after', true, 0]);
    expect(await read('x'.repeat(1001), {})).to.equal('no_room');
    expect(steps).to.deep.equal([
      ['admit 1001', false, 0],
      ['after', false, 0],
    ]);
  });

  it('is not read if its type or its caller is refused', async () => {
    expect(await read(BODY, { type: 'text/plain' })).to.equal('unsupported_media_type');
    expect(steps).to.deep.equal([['after', false, 0]]);
    const refusal = new Error('too dear');
    expect(await read(BODY, { admit: () => Promise.reject(refusal) })).to.equal(refusal);
    expect(steps).to.deep.equal([['after', false, 0]]);
  });
});
