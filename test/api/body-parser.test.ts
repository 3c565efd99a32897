// The body parser: no request blocks the main thread for more than 50 ms before its hold.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { type BodyParser, createBodyParser } from '../../lib/api/body-parser.ts';
import type { Dialect } from '../../lib/api/dialects/dialect.ts';
import { messageDialect } from '../../lib/api/dialects/message/dialect.ts';
import { isFault } from '../../lib/base/faults.ts';
import { routeSmart } from '../../lib/calls/smart/route.ts';
import { estimateInput } from '../../lib/calls/text/estimate.ts';
import type { TextRequest } from '../../lib/calls/text/request.ts';
import { BODY_BYTES_MAX } from '../../lib/http/body.ts';
import { parseJson } from '../../lib/http/json.ts';
import { until } from '../../testkit/client.ts';
import { watchTicks } from '../../testkit/event-loop-ticks.ts';
import { itLong, longer } from '../../testkit/long.ts';

const BLOCKED_MS_MAX = 50;
const LONG = 300 * 1024;
const MIB = 1024 * 1024;
const SIZES = longer([MIB], [MIB / 4, 2 * MIB]);

/** The name of one of this process's threads, which may have ended. */
function nameOf(thread: string): string {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8');
  } catch {
    return '';
  }
}

describe('body parser', () => {
  let parser: BodyParser;
  let keepAlive: NodeJS.Timeout;

  before(() => {
    // Its thread keeps no process alive; a server does.
    keepAlive = setInterval(() => undefined, 1000);
    parser = createBodyParser();
  });
  after(async () => {
    clearInterval(keepAlive);
    await parser.close();
  });

  const never = new AbortController().signal;
  const bytesOf = (text: string) => {
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    bytes.write(text);
    return bytes;
  };
  const ask = (content: unknown, more: object = {}) => ({
    model: 'smart',
    messages: [{ role: 'user', content }],
    ...more,
  });
  const parse = async (text: string, format: Dialect['name'] = 'message') =>
    parser.parse(bytesOf(text), { format, signal: never });

  describe('of long bodies', () => {
    it('parses them like short ones', async () => {
      const long = 'Слово и word. '.repeat(20_000);
      const messages = [
        { role: 'system', content: 'first' },
        {
          role: 'user',
          content: [
            { type: 'text', text: long },
            { type: 'text', text: 'b' },
          ],
        },
        ...Array.from({ length: 3000 }, (_, at) => ({ role: at % 2 ? 'user' : 'assistant', content: `turn ${at}` })),
        { role: 'user', content: Array.from({ length: 5000 }, (_, at) => ({ type: 'text', text: `block ${at}` })) },
      ];
      const body = JSON.stringify({ model: 'm', system: long, messages, stream: true, max_tokens: 7 });
      const expected = messageDialect.parse(parseJson(Buffer.from(body)));
      const { estimate, ...request } = await parse(body);
      expect(request).to.deep.equal(expected);
      expect(estimate).to.deep.equal(await estimateInput(expected));
    });

    it('parses tools, calls and results like those of short ones', async () => {
      const long = 'Слово и word. '.repeat(20_000);
      const image = { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } };
      const body = JSON.stringify({
        model: 'm',
        tools: Array.from({ length: 300 }, (_, at) => ({
          name: `tool_${at}`,
          description: `does ${at}`,
          input_schema: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(1000) } } },
        })),
        tool_choice: { type: 'tool', name: 'tool_7' },
        messages: [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'well' },
              { type: 'tool_use', id: 'a__state_cw', name: 'tool_1', input: { long } },
              { type: 'tool_use', id: 'b', name: 'tool_2', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a__state_cw',
                is_error: true,
                content: [{ type: 'text', text: long }, image],
              },
              { type: 'tool_result', tool_use_id: 'b' },
              { type: 'text', text: 'go on' },
            ],
          },
        ],
      });
      const expected = messageDialect.parse(parseJson(Buffer.from(body)));
      const { estimate, ...request } = await parse(body);
      expect(estimate).to.deep.equal(await estimateInput(expected));
      // The text of the definitions is in the estimate already.
      expect({ ...request, tools: { ...request.tools, text: expected.tools?.text } }).to.deep.equal(expected);
      expect(request.tools?.text).to.equal('');
    });

    it('refuses them with the same messages', async () => {
      const content = 'x'.repeat(LONG);
      for (const [body, message] of [
        [`{"model":"${content}`, /^The request body is not valid JSON/],
        [
          JSON.stringify(ask(content, { max_tokens: 0 })),
          /^Invalid `max_tokens`: must be a whole number above zero\.$/,
        ],
        [`[${'['.repeat(LONG)}`, /^The request body is not valid JSON: deeper than 64 levels\.$/],
      ] as const) {
        const error = await parse(body).catch((reason: unknown) => reason);
        expect(isFault(error) && error.data?.chatCode).to.equal('invalid_request');
        expect((error as Error).message).to.match(message);
      }
    });

    it('parses many at once, each in its dialect, and continues after a pause', async () => {
      const texts = Array.from({ length: 6 }, (_, at) => `${at}`.repeat(LONG));
      const brief = createBodyParser({ idleMs: 20 });
      const read = (text: string, at: number) =>
        brief.parse(bytesOf(JSON.stringify(ask(text))), { format: at % 2 ? 'chat' : 'message', signal: never });
      for (let round = 0; round < 2; round += 1) {
        const requests = await Promise.all(texts.map(read));
        expect(requests.map((request) => firstText(request)[0])).to.deep.equal(['0', '1', '2', '3', '4', '5']);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await brief.close();
    });

    it('starts a thread for long bodies alone, and keeps it except after a very long one', async function () {
      // Only Linux shows threads by their names.
      if (!existsSync('/proc/self/task')) this.skip();
      const parsers = () => readdirSync('/proc/self/task').filter((id) => nameOf(id).startsWith('tollgate-parser'));
      // Of other tests, which may still be ending.
      const others = new Set(parsers());
      const ids = () => parsers().filter((id) => !others.has(id));
      const threads = () => ids().length;
      const own = createBodyParser();
      const read = (bytes: number) =>
        own.parse(bytesOf(JSON.stringify(ask('x'.repeat(bytes)))), { format: 'chat', signal: never });
      const most = 256 * 1024 - JSON.stringify(ask('')).length;
      await read(most);
      expect(threads(), 'after a short body').to.equal(0);
      await read(most + 1);
      const first = ids();
      expect(first).to.have.length(1);
      await read(LONG);
      expect(ids()).to.deep.equal(first);
      await read(8 * MIB);
      await until(() => threads() === 0);
      await read(LONG);
      expect(threads()).to.equal(1);
      await own.close();
      expect(threads(), 'after its close').to.equal(0);
    });

    it('parses what waits behind a very long body by another thread', async () => {
      const own = createBodyParser();
      const read = async (bytes: number) => {
        const body = bytesOf(JSON.stringify(ask('x'.repeat(bytes))));
        return firstText(await own.parse(body, { format: 'chat', signal: never })).length;
      };
      const sizes = [8 * MIB, LONG];
      expect(await Promise.all(sizes.map(read))).to.deep.equal(sizes);
      await own.close();
    });

    it('keeps its thread while a body is parsed, however long that takes', async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      const own = createBodyParser({ idleMs: 20 });
      try {
        const body = JSON.stringify(ask('x'.repeat(LONG)));
        await own.parse(bytesOf(body), { format: 'chat', signal: never });
        const look = async () => mock.timers.tick(20);
        expect(
          firstText(await own.parse(bytesOf(body), { format: 'chat', signal: never, inspectHead: look })),
        ).to.have.length(LONG);
      } finally {
        mock.timers.reset();
        await own.close();
      }
    });

    it('reports an internal error if the thread dies, and parses the next body with another', async () => {
      const posted = mock.method(Worker.prototype, 'postMessage');
      const own = createBodyParser();
      const read = (text: string) =>
        Promise.resolve(own.parse(bytesOf(JSON.stringify(ask(text))), { format: 'chat', signal: never }));
      const threadOf = () => posted.mock.calls.at(-1)?.this as Worker;
      const threads: Worker[] = [];
      try {
        for (const [die, cause] of [
          [() => threadOf().terminate(), 'the parser thread exited'],
          [() => threadOf().emit('error', new Error('no memory')), 'no memory'],
        ] as const) {
          const failed = read('x'.repeat(LONG)).catch((error: unknown) => error);
          const next = read('y'.repeat(LONG));
          threads.push(threadOf());
          void die();
          const error = await failed;
          expect(isFault(error) && [error.data?.code, (error.cause as Error).message]).to.deep.equal([
            'internal',
            cause,
          ]);
          expect(firstText(await next)).to.equal('y'.repeat(LONG));
        }
        // What a thread that was given up still says starts nothing.
        const orders = posted.mock.callCount();
        threads.at(-1)?.emit('message', { group: [], more: false });
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(posted.mock.callCount()).to.equal(orders);
      } finally {
        posted.mock.restore();
        await own.close();
      }
    });

    it('rejects a call that ends while its body is parsed, and no other', async () => {
      const first = new AbortController();
      const last = new AbortController();
      const read = (text: string, { signal }: AbortController) =>
        parser.parse(bytesOf(JSON.stringify(ask(text.repeat(LONG)))), { format: 'chat', signal });
      const reads = [read('0', first), read('1', new AbortController()), read('2', last)] as const;
      first.abort(new Error('left'));
      expect(await Promise.resolve(reads[0]).catch((error: Error) => error.message)).to.equal('left');
      expect(firstText(await reads[1])[0]).to.equal('1');
      expect(firstText(await reads[2])[0]).to.equal('2');
      // What ends later has no place any more.
      const another = read('3', new AbortController());
      last.abort(new Error('late'));
      expect(firstText(await another)[0]).to.equal('3');
    });

    it('parses nothing for a call that has already ended', async () => {
      const signal = AbortSignal.abort('gone');
      const read = parser.parse(bytesOf(JSON.stringify(ask('x'.repeat(LONG)))), { format: 'chat', signal });
      expect(await Promise.resolve(read).catch((reason) => reason)).to.equal('gone');
    });

    itLong('rejects a call that ends before its turn', async () => {
      const body = JSON.stringify(ask('x'.repeat(LONG)));
      // The thread ends after it, and another one goes on.
      const first = parse(JSON.stringify(ask('x'.repeat(8 * MIB))));
      const controller = new AbortController();
      const second = parser.parse(bytesOf(body), { format: 'chat', signal: controller.signal });
      const third = parse(body);
      controller.abort('gone');
      expect(await Promise.resolve(second).catch((reason: unknown) => reason)).to.equal('gone');
      expect(firstText(await first)).to.have.length(8 * MIB);
      expect(firstText(await third)).to.have.length(LONG);
    });
  });

  it('passes the head of a long body to inspectHead, which may refuse it', async () => {
    const body = JSON.stringify(ask('x'.repeat(LONG), { system: 'y', max_tokens: 9 }));
    let seen: TextRequest | undefined;
    const look = async (request: TextRequest) => {
      seen = request;
      throw new Error('too dear');
    };
    const refused = parser.parse(bytesOf(body), { format: 'message', signal: never, inspectHead: look });
    expect(await Promise.resolve(refused).catch(({ message }: Error) => message)).to.equal('too dear');
    expect(seen).to.deep.include({ model: 'smart', maxTokens: 9, messages: [], system: undefined });
    expect(seen?.estimate?.tokens).to.equal(Math.ceil((LONG + 1) / 4) + 4);
    expect(firstText(await parse(body))).to.have.length(LONG);
  });

  const firstText = ({ messages }: TextRequest) => {
    const content = messages[0]?.content[0];
    return content?.type === 'text' ? content.text : '';
  };

  const fill = (unit: string, bytes: number) => unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));
  const list = (item: string, bytes: number) =>
    Array(
      Math.max(1, Math.min(Math.floor(199_000 / (item.split(/[{,[]/).length + 1)), Math.floor(bytes / item.length))),
    )
      .fill(item)
      .join(',');
  const image = `{"type":"image","source":{"type":"url","url":"https://${'я'.repeat(200)}.рф/"}}`;
  /** Bodies about so many bytes long. */
  const shapes: Readonly<Record<string, (bytes: number) => string>> = {
    'a text in ASCII': (bytes) => JSON.stringify(ask(fill('a', bytes))),
    'a text in other letters': (bytes) => JSON.stringify(ask(fill('Напиши код ', bytes))),
    'a text with one other letter': (bytes) => JSON.stringify(ask(`${fill('if (a) b; ', bytes)}я`)),
    'a text of escapes': (bytes) => `{"model":"smart","messages":[{"role":"user","content":"${fill('\\"', bytes)}"}]}`,
    'a text of digits and marks': (bytes) => JSON.stringify(ask(fill('1+1=? ', bytes))),
    'a system prompt': (bytes) => JSON.stringify(ask('a', { system: fill('Ты помощник. ', bytes) })),
    'a model': (bytes) => JSON.stringify(ask('a', { model: fill('m', bytes) })),
    'a role': (bytes) => `{"model":"smart","messages":[{"role":"${fill('r', bytes)}","content":"a"}]}`,
    'a number': (bytes) =>
      `{"model":"smart","max_tokens":${fill('1', bytes)},"messages":[{"role":"user","content":"a"}]}`,
    'many numbers': (bytes) => `{"model":"smart","messages":[${list('12345678901234567890.5e3', bytes)}]}`,
    'white space': (bytes) => `${fill(' ', bytes)}${JSON.stringify(ask('a'))}`,
    'unknown fields': (bytes) =>
      `{"model":"smart","messages":[{"role":"user","content":"a"}],"x":[${list('{"__proto__":1}', bytes)}]}`,
    'many messages': (bytes) => `{"model":"smart","messages":[${list('{"role":"user","content":"abc"}', bytes)}]}`,
    'many blocks': (bytes) =>
      `{"model":"smart","messages":[{"role":"user","content":[${list('{"type":"text","text":"abc"}', bytes)}]}]}`,
    'many images': (bytes) =>
      `{"model":"smart","messages":[{"role":"assistant","content":[${list(image, bytes)}]},{"role":"user","content":"a"}]}`,
    'a tool result': (bytes) =>
      `{"model":"smart","messages":[{"role":"user","content":[{"type":"tool_result","content":[${list('{"text":"ab"}', bytes)}]}]}]}`,
    'an image in base64': (bytes) =>
      JSON.stringify(
        ask([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: fill('A', bytes) } }]),
      ),
    'an image by its url': (bytes) =>
      JSON.stringify(ask([{ type: 'image', source: { type: 'url', url: `https://${fill('я', bytes)}` } }])),
  };

  /** CPU time of the longest tick while a body is read and looked at as far as the hold. */
  async function measureWorstTick(text: string): Promise<number> {
    const bytes = bytesOf(text);
    await new Promise((resolve) => setImmediate(resolve));
    const ticks = watchTicks();
    await new Promise((resolve) => setImmediate(resolve));
    try {
      const request = await parser.parse(bytes, { format: 'message', signal: never });
      if (!request.estimate) await estimateInput(request);
      routeSmart({ ...request, system: request.system?.map((part) => part.text).join('\n\n') });
    } catch (error) {
      if (!isFault(error)) throw error;
    }
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    ticks.stop();
    return ticks.worstMs();
  }

  /** What a collection of garbage falls into is tried again. */
  async function expectQuick(text: string): Promise<void> {
    let worst = await measureWorstTick(text);
    for (let tries = 1; tries < 3 && worst > BLOCKED_MS_MAX; tries += 1)
      worst = Math.min(worst, await measureWorstTick(text));
    expect(worst).to.be.below(BLOCKED_MS_MAX);
  }

  describe('does not block the event loop', () => {
    for (const [name, make] of Object.entries(shapes).slice(0, longer(2, Infinity))) {
      it(`by ${name}`, async function () {
        this.timeout(30_000);
        for (const size of SIZES) await expectQuick(make(size));
      });
    }

    for (const name of ['a text with one other letter', 'a text of escapes']) {
      itLong(`by ${name} of 48 MiB`, async function () {
        this.timeout(30_000);
        await expectQuick(shapes[name]?.(BODY_BYTES_MAX - 500) as string);
      });
    }
  });
});
