// The vendors with a cache that flows run against count as the real ones do.
import { expect } from 'chai';
import { MINUTE_MS } from '../../lib/base/durations.ts';
import { type CachingVendor, createChatVendor, createMessageVendor } from '../../testkit/prompt-cache.ts';
import type { UpstreamCall } from '../../testkit/upstream.ts';

const SCRIPT = { calls: 9, tool: 'look', arguments: () => '{}' };
const LONG = 'word '.repeat(2000);
const MARKER = { cache_control: { type: 'ephemeral' } };

async function count(vendor: CachingVendor, body: object) {
  const response = { writeHead: () => response, end: () => response };
  await vendor.behaviour({ body, response } as unknown as UpstreamCall);
  const { read, written } = vendor.counted.at(-1) ?? {};
  return { read, written };
}

const block = (text: string, marked = false) => ({ type: 'text', text, ...(marked && MARKER) });
const marked = (system: string, ...said: string[]) => ({
  system: [block(system, true)],
  messages: [{ role: 'user', content: said.map((text, at) => block(text, at === said.length - 1)) }],
});

describe('a vendor of messages with a cache', () => {
  let vendor: CachingVendor;
  beforeEach(() => {
    vendor = createMessageVendor(SCRIPT);
  });

  it('writes up to the last marker and reads the longest prefix that it knows', async () => {
    const first = await count(vendor, marked(LONG, 'a'));
    expect(first.read).to.equal(0);
    expect(first.written).to.be.above(2500);
    expect(await count(vendor, marked(LONG, 'a'))).to.deep.equal({ read: first.written, written: 0 });
    const next = await count(vendor, marked(LONG, 'a', 'b'));
    expect(next.read).to.equal(first.written);
    expect(next.written).to.be.within(1, 20);
    // Another message after the same system prompt.
    expect((await count(vendor, marked(LONG, 'c'))).read).to.be.within(2500, (first.written ?? 0) - 1);
    expect((await count(vendor, marked(`${LONG}.`, 'a'))).read).to.equal(0);
  });

  it('caches nothing that is short or has no marker, and refuses a fifth marker', async () => {
    const none = { read: 0, written: 0 };
    expect(await count(vendor, marked('short', 'a'))).to.deep.equal(none);
    const plain = { system: LONG, messages: [{ role: 'user', content: 'a' }] };
    for (const _ of [1, 2]) expect(await count(vendor, plain)).to.deep.equal(none);
    const five = { messages: [{ role: 'user', content: Array.from({ length: 5 }, () => block(LONG, true)) }] };
    let refused = '';
    await count(vendor, five).catch(({ message }: Error) => {
      refused = message;
    });
    expect(refused).to.equal('5 markers');
  });

  it('forgets after five minutes without a call', async () => {
    await count(vendor, marked(LONG, 'a'));
    for (const _ of [1, 2, 3]) {
      vendor.wait(4 * MINUTE_MS);
      expect((await count(vendor, marked(LONG, 'a'))).read).to.be.above(2500);
    }
    vendor.wait(5 * MINUTE_MS);
    expect((await count(vendor, marked(LONG, 'a'))).read).to.equal(0);
  });

  it('finds an earlier marker up to twenty blocks back', async () => {
    const blocks = (count: number) => Array.from({ length: count }, (_, at) => (at === 0 ? LONG : `b${at}`));
    const said = (count: number) => ({ messages: marked('', ...blocks(count)).messages });
    await count(vendor, said(1));
    expect((await count(vendor, said(21))).read).to.be.above(2000);
    vendor.wait(6 * MINUTE_MS);
    await count(vendor, said(1));
    expect((await count(vendor, said(22))).read).to.equal(0);
  });
});

describe('a vendor of chats with a cache', () => {
  it('caches by itself in steps of 128 tokens, from 1,024 on, for five minutes', async () => {
    const vendor = createChatVendor(SCRIPT);
    const said = (...texts: string[]) => ({ messages: texts.map((content) => ({ role: 'user', content })) });
    expect(await count(vendor, said(LONG))).to.deep.equal({ read: 0, written: 0 });
    const { read = 0 } = await count(vendor, said(LONG, 'more'));
    expect([read % 128, read > 2300]).to.deep.equal([0, true]);
    expect((await count(vendor, said('x', LONG))).read).to.equal(0);
    await count(vendor, said('short'));
    expect((await count(vendor, said('short'))).read).to.equal(0);
    vendor.wait(5 * MINUTE_MS);
    expect((await count(vendor, said(LONG))).read).to.equal(0);
  });
});
