import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { StreamPart } from '../../lib/stream/part.ts';
import type { ProviderPart, TextCall, TextMessage } from '../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import { createProvider } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/sandbox/index.ts';
import { itTimed } from '../../testkit/timed.ts';

const never = new AbortController().signal;

const user = (text: string): TextMessage => ({ role: 'user', content: [{ type: 'text', text }] });

const call = (text: string, more: Partial<TextCall> = {}): TextCall => ({
  model: 'standard',
  messages: [user(text)],
  maxTokens: 8192,
  options: {},
  ...more,
});

function start(asked: TextCall, signal = never, settings: object = {}): AsyncIterator<readonly ProviderPart[]> {
  const { provider } = createProvider({ plugin, upstream: 'sandbox', settings, log: { warn() {} } });
  const source = provider.text?.(asked, signal) ?? expect.fail('the sandbox has no text');
  return source[Symbol.asyncIterator]();
}

interface Answer {
  readonly text: string;
  readonly finish: string | undefined;
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly thrown: unknown;
  /** Their types. */
  readonly images: readonly unknown[];
}

/** What comes out behind the guard. */
async function ask(asked: TextCall, signal = never): Promise<Answer> {
  const iterator = start(asked, signal);
  const guard = new Guard();
  const parts: StreamPart[] = [];
  let thrown: unknown;
  try {
    for (let step = await iterator.next(); !step.done; step = await iterator.next())
      parts.push(...guard.push(step.value));
    parts.push(...guard.end());
  } catch (error) {
    thrown = error;
  }
  const usage = parts.filter((part) => part.type === 'usage');
  return {
    text: parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join(''),
    finish: parts.find((part) => part.type === 'finish')?.reason,
    input: usage.findLast((part) => part.input !== undefined)?.input,
    output: usage.findLast((part) => part.output !== undefined)?.output,
    thrown,
    images: parts.flatMap((part) => (part.type === 'image' ? [part.mediaType] : [])),
  };
}

const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

describe('provider sandbox', () => {
  it('says what it is and echoes the prompt, the same every time', async () => {
    const first = await ask(call('What is a prepaid gateway?'));
    expect(first.text).to.include('sandbox').and.include('“What is a prepaid gateway?”');
    expect(first).to.deep.include({ finish: 'stop', thrown: undefined });
    expect(await ask(call('What is a prepaid gateway?'))).to.deep.equal(first);
    expect((await ask(call('Another prompt'))).text).not.to.equal(first.text);
  });

  it('answers in Russian when the prompt is', async () => {
    const { text } = await ask(call('Что умеет шлюз API?'));
    expect(text).to.include('песочниц').and.include('«Что умеет шлюз API?»');
    expect(text).not.to.include('sandbox');
  });

  it('answers longer the heavier the model', async () => {
    const lengths = [];
    for (const model of ['lite', 'standard', 'heavy']) lengths.push((await ask(call('Hello', { model }))).output);
    const [lite = 0, standard = 0, heavy = 0] = lengths;
    expect(lite).to.be.within(10, standard - 10);
    expect(heavy).to.be.above(standard + 20);
    expect((await ask(call('Hello', { model: 'anything' }))).output).to.equal(standard);
  });

  it('shortens a long prompt without breaking a character', async () => {
    const { text } = await ask(call('😀'.repeat(500)));
    expect(text)
      .to.include(`${'😀'.repeat(120)}…`)
      .and.not.include('😀'.repeat(121));
  });

  it('counts a word as a token: in the system prompt and every message, and in the answer', async () => {
    const messages = [user('one two'), { ...user('three'), role: 'assistant' as const }, user(' four\n five  six ')];
    const answer = await ask(call('', { system: [{ type: 'text', text: 'Be brief.' }], messages }));
    expect(answer.input).to.equal(8);
    expect(answer.output).to.equal(wordsOf(answer.text));
  });

  it('sends its first part at once, then a word at a time, each in a turn of its own', async () => {
    const iterator = start(call('Hello'));
    const first = await iterator.next();
    expect(first.value.map((part: ProviderPart) => part.type)).to.deep.equal(['start', 'usage', 'block-start']);
    for (let word = 1; word <= 3; word++) {
      const { value } = await iterator.next();
      expect(value[0].text).to.match(/^\S+\s$/);
      expect(value[1]).to.deep.equal({ type: 'usage', output: word });
    }
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await iterator.next();
    expect(turned).to.equal(true);
  });

  const limits: readonly (readonly [prompt: string, maxTokens: number, words: number, finish: string])[] = [
    ['Hello', 1, 1, 'length'],
    ['Hello', 7, 7, 'length'],
    ['[[words:7]]', 8, 7, 'stop'],
    ['[[words:7]]', 7, 7, 'stop'],
    ['[[words:7]]', 6, 6, 'length'],
    ['[[words:1]] please', 100, 1, 'stop'],
    ['[[words:2000]]', 32_768, 2000, 'stop'],
    ['[[words:999999999999999999999]]', 50, 50, 'length'],
  ];
  for (const [prompt, maxTokens, words, finish] of limits) {
    it(`answers ${prompt} with at most ${maxTokens} tokens by ${words} words`, async () => {
      const answer = await ask(call(prompt, { maxTokens }));
      expect(wordsOf(answer.text)).to.equal(words);
      expect(answer).to.deep.include({ finish, output: words });
      expect(answer.text).to.equal(answer.text.trim());
    });
  }

  it('draws behind its words on [[draw]], unless it was cut', async () => {
    const { text, images, output, finish } = await ask(call('A red square [[draw]]'));
    expect([images, finish]).to.deep.equal([['image/png'], 'stop']);
    expect(output).to.equal(wordsOf(text) + 250);
    const cut = await ask(call('A red square [[draw]]', { maxTokens: 5 }));
    expect([cut.images, cut.output, cut.finish]).to.deep.equal([[], 5, 'length']);
  });

  it('fails before the first part on [[fail]]', async () => {
    const { text, thrown, input } = await ask(call('please [[fail]] now'));
    expect(text).to.equal('');
    expect(input).to.equal(undefined);
    expect(isUpstreamFault(thrown)).to.equal(true);
    expect(thrown).to.include({ kind: 'server', status: 500 });
  });

  for (const [words, sent] of [
    [10, 5],
    [3, 2],
    [1, 1],
  ] as const) {
    it(`fails after ${sent} of ${words} words on [[fail-mid]]`, async () => {
      const { text, finish, thrown } = await ask(call(`[[fail-mid]] [[words:${words}]]`));
      expect(wordsOf(text)).to.equal(sent);
      expect(finish).to.equal(undefined);
      expect(thrown).to.include({ kind: 'server' });
    });
  }

  it('fails as often as [[fail*N]] says, then answers, and begins anew', async () => {
    const { provider } = createProvider({ plugin, upstream: 'sandbox', settings: {}, log: { warn() {} } });
    const outcomes = async (text: string, count: number) => {
      const seen: string[] = [];
      for (let at = 0; at < count; at++) {
        const parts = provider.text?.(call(text), never)[Symbol.asyncIterator]();
        seen.push(
          await (parts?.next().then(
            () => 'answer',
            (error: Error & { kind: string }) => error.kind,
          ) ?? ''),
        );
      }
      return seen;
    };
    expect(await outcomes('Hi [[fail*2]]', 5)).to.deep.equal(['server', 'server', 'answer', 'server', 'server']);
    expect(await outcomes('Ho [[fail*1]]', 2)).to.deep.equal(['server', 'answer']);
    expect(await outcomes('Hi [[fail*2]]', 1)).to.deep.equal(['answer']);
    expect(await outcomes('Hi [[fail*0]]', 1)).to.deep.equal(['answer']);
  });

  it('forgets the oldest of a thousand prompts with [[fail*N]] that nobody has repeated', async () => {
    const { provider } = createProvider({ plugin, upstream: 'sandbox', settings: {}, log: { warn() {} } });
    const isAnswered = async (text: string) => {
      const parts = provider.text?.(call(`${text} [[fail*1]]`), never)[Symbol.asyncIterator]();
      return parts?.next().then(
        () => true,
        () => false,
      );
    };
    for (let at = 0; at <= 1000; at++) await isAnswered(`prompt ${at}`);
    expect(await isAnswered('prompt 0')).to.equal(false);
    expect(await isAnswered('prompt 1000')).to.equal(true);
  });

  it('begins as late as [[wait:N]] says, and not once it is aborted', async () => {
    const slept: number[] = [];
    const clock = { now: Date.now, sleep: async (ms: number) => void slept.push(ms) };
    const { provider } = createProvider({ plugin, upstream: 'sandbox', settings: {}, log: { warn() {} }, clock });
    for (const ms of ['250', '0', '99999999']) {
      await provider
        .text?.(call(`Hi [[wait:${ms}]]`), never)
        [Symbol.asyncIterator]()
        .next();
    }
    expect(slept).to.deep.equal([250, 600_000]);
    const controller = new AbortController();
    const running = ask(call('[[wait:60000]]'), controller.signal);
    controller.abort('enough');
    expect((await running).thrown).to.equal('enough');
  });

  it('looks for markers in the last user message only', async () => {
    const messages = [user('[[fail]]'), { ...user('[[stall]]'), role: 'assistant' as const }, user('[[words:3]]')];
    const answer = await ask(call('', { messages, system: [{ type: 'text', text: '[[fail]]' }] }));
    expect(answer).to.deep.include({ finish: 'stop', output: 3 });
  });

  itTimed('takes 100 ms a word on [[slow]], and wakes on abort', async () => {
    const controller = new AbortController();
    const started = performance.now();
    const running = ask(call('[[slow]]'), controller.signal);
    await sleep(350);
    controller.abort('enough');
    const aborted = performance.now();
    const { text, thrown } = await running;
    expect(thrown).to.equal('enough');
    expect(performance.now() - aborted).to.be.below(90);
    expect(wordsOf(text)).to.be.within(2, Math.ceil((aborted - started) / 100));
  });

  it('sends nothing on [[stall]] until it is aborted', async () => {
    const controller = new AbortController();
    const pending = start(call('[[stall]]'), controller.signal).next();
    expect(await Promise.race([pending, sleep(50, 'nothing')])).to.equal('nothing');
    controller.abort('enough');
    expect(await pending.catch((error: unknown) => error)).to.equal('enough');
  });

  it('stops between two words when it is aborted', async () => {
    const controller = new AbortController();
    const iterator = start(call('Hello'), controller.signal);
    await iterator.next();
    await iterator.next();
    controller.abort('enough');
    expect(await iterator.next().catch((error: unknown) => error)).to.equal('enough');
  });

  itTimed('slows down by its setting', async () => {
    const iterator = start(call('[[words:3]]'), never, { wordMs: 30 });
    const started = performance.now();
    while (!(await iterator.next()).done);
    expect(performance.now() - started).to.be.within(50, 10_000);
  });
});
