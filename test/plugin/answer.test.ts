import { expect } from 'chai';
import type { ReplyReader, StreamPart, UpstreamFault } from '../../lib/plugin/contract.ts';
import { upstreamFault } from '../../lib/plugin/fault.ts';
import { type ClosableHost, createHost } from '../../lib/plugin/host.ts';
import { answerStatus, SSE, startUpstream, type TestUpstream } from '../helpers/upstream.ts';

const delta = (text: string): StreamPart => ({ type: 'block-delta', index: 0, text });

/** Passes lines on as deltas; `end` ends the reply, `fail` fails it, `nothing` brings nothing. */
class LineReader implements ReplyReader {
  done = false;
  failure: unknown;
  readonly calls: string[] = [];

  push(lines: readonly string[]): readonly StreamPart[] {
    this.calls.push(...lines);
    if (lines.includes('fail')) this.failure = new Error('it failed');
    this.done = lines.includes('end') || lines.includes('fail');
    return lines.filter((line) => !['end', 'fail', 'nothing'].includes(line)).map(delta);
  }

  end(): readonly StreamPart[] {
    this.calls.push('(ended)');
    return [delta('kept back')];
  }

  break(error: unknown): readonly StreamPart[] {
    this.calls.push('(broken)');
    this.failure = error;
    return [delta('before the break')];
  }

  refuse(status: number, text: string): UpstreamFault {
    return upstreamFault('server', text, status);
  }
}

describe('answer of a plugin', () => {
  let upstream: TestUpstream;
  let host: ClosableHost;
  let reader: LineReader;
  let controller: AbortController;

  before(async () => {
    upstream = await startUpstream();
  });
  beforeEach(() => {
    host = createHost({ upstream: 'acme', allowedOrigins: [upstream.url], log: { warn() {} } });
    reader = new LineReader();
    controller = new AbortController();
  });
  afterEach(() => host.close());
  after(() => upstream.close());

  const answer = () =>
    host.answer(`${upstream.url}/v1`, { method: 'POST', signal: controller.signal }, reader)[Symbol.asyncIterator]();

  async function textsOf(iterator: AsyncIterator<readonly StreamPart[]>): Promise<string[]> {
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
    upstream.behave(({ response }) => void response.end('a\n'));
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
        response.write(`${line}\n`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      response.end();
    });
    expect(await textsOf(answer())).to.deep.equal(['a', 'b', 'kept back']);
    expect(reader.calls).to.deep.equal(['a', 'nothing', 'b', '(ended)']);
  });

  it('leaves the body when the reader is done, and does not end the reader then', async () => {
    upstream.behave(({ response }) => void response.write('a\nend\n'));
    const iterator = answer();
    expect(await textsOf(iterator)).to.deep.equal(['a']);
    expect(reader.calls).to.deep.equal(['a', 'end']);
    await upstream.calls.at(-1)?.closed;
  });

  it('throws a failure after the parts before it, once', async () => {
    upstream.behave(({ response }) => void response.end('a\nfail\n'));
    const iterator = answer();
    expect(await iterator.next()).to.deep.equal({ done: false, value: [delta('a')] });
    expect(await thrownBy(iterator.next())).to.equal(reader.failure);
    expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('tells the reader of a body that breaks off', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, { ...SSE, 'content-length': '100' });
      response.write('a\n', () => response.destroy());
    });
    const iterator = answer();
    expect(await iterator.next()).to.deep.equal({ done: false, value: [delta('a')] });
    expect(await iterator.next()).to.deep.equal({ done: false, value: [delta('before the break')] });
    expect(await thrownBy(iterator.next())).to.include({ name: 'UpstreamFault', kind: 'network' });
  });

  it('asks the reader what a refusal is, with its text if it comes whole', async () => {
    upstream.behave(answerStatus(503, 'busy'));
    const refused = answer();
    expect(await thrownBy(refused.next())).to.include({ status: 503, detail: '"busy"' });
    expect(await refused.next()).to.deep.equal({ done: true, value: undefined });
    upstream.behave(({ response }) => {
      response.writeHead(500, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    expect(await thrownBy(answer().next())).to.include({ status: 500, detail: '' });
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
    upstream.behave(({ response }) => void response.write('a\n'));
    const iterator = answer();
    await iterator.next();
    const pending = thrownBy(iterator.next());
    controller.abort('stop');
    expect(await pending).to.equal('stop');
    expect(reader.calls).to.deep.equal(['a']);
    await upstream.calls.at(-1)?.closed;
  });

  for (const [when, begin] of [
    ['while it is asked', undefined],
    ['while more is awaited', 'a\n'],
  ] as const) {
    it(`closes the connection when it is left ${when}`, async () => {
      const called = upstream.nextCall();
      upstream.behave(({ response }) => {
        if (begin) response.write(begin);
        else setTimeout(() => response.write('late\n'), 50);
      });
      const iterator = answer();
      if (begin) await iterator.next();
      const pending = iterator.next();
      const { closed } = await called;
      await iterator.return?.();
      expect(await pending).to.deep.equal({ done: true, value: undefined });
      await closed;
      expect(reader.calls).to.deep.equal(begin ? ['a'] : []);
    });
  }
});
