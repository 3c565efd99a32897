import { expect } from 'chai';
import type { AnswerReader, AnswerWriter, JsonObject, ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { SSE, startUpstream, type TestUpstream } from '../../../testkit/upstream.ts';

const value = (word: string) => `data: ${JSON.stringify({ word })}\n\n`;

/** Passes words on as text; `end` ends the reply, `fail` fails it, `nothing` brings nothing, `stop` is a reason. */
class WordReader implements AnswerReader {
  readonly calls: string[] = [];

  take({ word }: JsonObject, out: AnswerWriter): void {
    this.calls.push(String(word));
    if (word === 'fail') throw new Error('it failed');
    if (word === 'end') out.done('end');
    else if (word === 'stop') out.finish('stop', 'stop');
    else if (word !== 'nothing') out.text(String(word));
  }

  end(out: AnswerWriter, marked: boolean): void {
    this.calls.push(marked ? '(marked)' : '(ended)');
    out.text('kept back');
  }
}

describe('answer of a plugin', () => {
  let upstream: TestUpstream;
  let host: ClosableHost;
  let reader: WordReader;
  let controller: AbortController;

  before(async () => {
    upstream = await startUpstream();
  });
  beforeEach(() => {
    host = createHost({ upstream: 'acme', allowedOrigins: [upstream.url], log: { warn() {} } });
    reader = new WordReader();
    controller = new AbortController();
  });
  afterEach(() => host.close());
  after(() => upstream.close());

  const answer = () =>
    host.answer(`${upstream.url}/v1`, { method: 'POST', signal: controller.signal }, reader)[Symbol.asyncIterator]();

  async function textsOf(iterator: AsyncIterator<readonly ProviderPart[]>): Promise<string[]> {
    const texts: string[] = [];
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return texts;
      for (const part of value) if (part.type === 'block-delta') texts.push(part.text);
    }
  }

  const thrownBy = (step: Promise<unknown>) =>
    step.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error,
    );

  it('sends nothing before the first step', async () => {
    const before = upstream.calls.length;
    upstream.behave(({ response }) => void response.end(value('a')));
    const iterator = answer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.calls).to.have.length(before);
    expect(await textsOf(iterator)).to.deep.equal(['a', 'kept back']);
    expect(upstream.calls).to.have.length(before + 1);
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('gives no empty arrays, and ends the reader with the body', async () => {
    upstream.behave(async ({ response }) => {
      for (const line of ['a', 'nothing', 'b']) {
        response.write(value(line));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      response.end();
    });
    expect(await textsOf(answer())).to.deep.equal(['a', 'b', 'kept back']);
    expect(reader.calls).to.deep.equal(['a', 'nothing', 'b', '(ended)']);
  });

  it('leaves the body when the reader is done, and does not end the reader then', async () => {
    upstream.behave(({ response }) => void response.write(value('a') + value('end')));
    const iterator = answer();
    expect(await textsOf(iterator)).to.deep.equal(['a']);
    expect(reader.calls).to.deep.equal(['a', 'end']);
    await upstream.calls.at(-1)?.closed;
  });

  it('throws a failure after the parts before it, once', async () => {
    upstream.behave(({ response }) => void response.end(value('a') + value('fail')));
    const iterator = answer();
    expect((await iterator.next()).value.at(-1)).to.include({ type: 'block-delta', text: 'a' });
    expect(await thrownBy(iterator.next())).to.have.property('message', 'it failed');
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });

  const breakOff = (...words: readonly string[]) =>
    upstream.behave(({ response }) => {
      response.writeHead(200, { ...SSE, 'content-length': '1000' });
      response.write(words.map(value).join(''), () => response.destroy());
    });

  it('fails when the body breaks off', async () => {
    breakOff('a');
    const iterator = answer();
    expect((await iterator.next()).value.at(-1)).to.include({ type: 'block-delta', text: 'a' });
    expect(await thrownBy(iterator.next())).to.include({ name: 'UpstreamFault', kind: 'network' });
    expect(reader.calls).to.deep.equal(['a']);
  });

  it('finishes when the body breaks off after a reason to end', async () => {
    breakOff('a', 'stop');
    const parts: ProviderPart[] = [];
    for await (const some of { [Symbol.asyncIterator]: answer }) parts.push(...some);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: 'stop' });
  });

  it('fails when the body breaks off in text that followed a reason to end', async () => {
    breakOff('stop', 'a');
    const iterator = answer();
    expect((await iterator.next()).value.at(-1)).to.include({ type: 'block-delta', text: 'a' });
    expect(await thrownBy(iterator.next())).to.include({ name: 'UpstreamFault', kind: 'network' });
  });

  it('refuses an event above the limit, closes the connection, and takes one below a limit that was raised', async () => {
    upstream.behave(({ response }) => void response.write(value('a') + value('x'.repeat(1024 * 1024))));
    const iterator = answer();
    await iterator.next();
    expect(await thrownBy(iterator.next())).to.include({ kind: 'protocol' });
    await upstream.calls.at(-1)?.closed;
    upstream.behave(({ response }) => void response.end(value('x'.repeat(2 * 1024 * 1024))));
    const init = { method: 'POST', signal: controller.signal, eventCharsMax: 3 * 1024 * 1024 } as const;
    const raised = host.answer(`${upstream.url}/v1`, init, reader)[Symbol.asyncIterator]();
    expect((await textsOf(raised))[0]).to.have.length(2 * 1024 * 1024);
  });

  it('is not asked for again where an open connection breaks, if it is asked for once', async () => {
    upstream.behave(({ response }) => void response.end('{}'));
    await host.json(upstream.url, { method: 'GET', signal: controller.signal });
    await new Promise(setImmediate);
    upstream.calls.length = 0;
    upstream.behave(({ response }) => void response.destroy());
    const init = { method: 'POST', signal: controller.signal, once: true } as const;
    const broken = host.answer(`${upstream.url}/v1`, init, reader)[Symbol.asyncIterator]();
    expect(await thrownBy(broken.next())).to.include({ kind: 'network' });
    expect(upstream.calls).to.have.length(1);
  });

  it('throws what a refusal says, with as much of its text as comes', async () => {
    upstream.behave(({ response }) => void response.writeHead(503, { 'retry-after': '7' }).end('busy'));
    const refused = answer();
    const thrown = await thrownBy(refused.next());
    expect(thrown).to.include({ kind: 'overloaded', status: 503, detail: 'busy', retryAfterMs: 7000 });
    expect(await refused.next()).to.deep.equal({ done: true, value: undefined });
    upstream.behave(({ response }) => {
      response.writeHead(500, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    expect(await thrownBy(answer().next())).to.include({ status: 500, detail: 'half' });
  });

  it('throws what a long refusal says, up to 64 KiB of it', async () => {
    for (const [length, kind] of [
      [60_000, 'quota'],
      [70_000, 'request'],
    ] as const) {
      const error = { message: 'x'.repeat(length), code: 'insufficient_quota' };
      upstream.behave(({ response }) => void response.writeHead(400).end(JSON.stringify({ error })));
      expect(await thrownBy(answer().next())).to.include({ kind, status: 400 });
    }
  });

  it('throws what asking throws, and does not ask again', async () => {
    const before = upstream.calls.length;
    upstream.behave(({ request }) => void request.socket.destroy());
    const iterator = answer();
    expect(await thrownBy(iterator.next())).to.include({ kind: 'network' });
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
    expect(upstream.calls).to.have.length(before + 1);
  });

  it('throws the reason of an abort, of which the reader is not told', async () => {
    upstream.behave(({ response }) => void response.write(value('a')));
    const iterator = answer();
    await iterator.next();
    const pending = thrownBy(iterator.next());
    controller.abort('stop');
    expect(await pending).to.equal('stop');
    expect(reader.calls).to.deep.equal(['a']);
    await upstream.calls.at(-1)?.closed;
  });

  it('throws the reason of an abort also where the answer had a reason to end', async () => {
    upstream.behave(({ response }) => void response.write(value('stop')));
    const iterator = answer();
    await iterator.next();
    const pending = thrownBy(iterator.next());
    controller.abort('enough');
    expect(await pending).to.equal('enough');
  });

  it('closes the connection when it is left between two reads', async () => {
    upstream.behave(({ response }) => void response.write(value('a')));
    const called = upstream.nextCall();
    const iterator = answer();
    await iterator.next();
    const { closed } = await called;
    await iterator.return?.();
    await closed;
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });
});
