// What the specification says raises the score never lowers it, and what it says lowers it never raises it.
import { expect } from 'chai';
import fc from 'fast-check';
import { SMART_TIERS } from '../../../lib/base/smart-tiers.ts';
import { findDirection, type SignalName } from '../../../lib/calls/smart/names.ts';
import { explain, routeSmart, type SmartRequest } from '../../../lib/calls/smart/route.ts';
import { longer } from '../../../testkit/long.ts';
import { GUARD, HOLDOUTS, readSet } from './prompts.ts';

type Change = (request: SmartRequest) => SmartRequest;

const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] });
const assistant = (text: string) => ({ role: 'assistant' as const, content: [{ type: 'text' as const, text }] });
const textOf = ({ messages }: SmartRequest) => messages.at(-1)?.content[0]?.text ?? '';
const withText = (request: SmartRequest, text: string): SmartRequest => ({
  ...request,
  messages: [...request.messages.slice(0, -1), user(text)],
});
const appended =
  (text: string): Change =>
  (request) =>
    withText(request, `${textOf(request)}${text}`);
const prepended =
  (text: string): Change =>
  (request) =>
    withText(request, `${text}${textOf(request)}`);

/** Real requests: short and long, with and without payload, dialogs, system prompts. */
const REQUESTS = [GUARD, ...HOLDOUTS.slice(0, longer(1, 6))]
  .flatMap((name) => readSet(name as typeof GUARD))
  .filter((_, at) => at % longer(3, 1) === 0)
  .map(({ request }) => request)
  .filter((request) => textOf(request).length < 1200);

/** A dialog or a system prompt has no word in the tier of a message: these never fail. */
function expectAlways(change: Change, direction: 1 | -1): void {
  for (const request of REQUESTS) {
    const before = routeSmart(request).score;
    const after = routeSmart(change(request)).score;
    expect((after - before) * direction, textOf(request)).to.be.at.least(0);
  }
}

/** Where the change is one of words, a text may swallow it: in quotation marks left open, or in a demand cut in half. */
const EXCEPTIONS_MAX = 0.01;

function expectAlmostAlways(change: Change, direction: 1 | -1): void {
  const failed = REQUESTS.filter((request) => {
    const before = SMART_TIERS.indexOf(routeSmart(request).tier);
    return (SMART_TIERS.indexOf(routeSmart(change(request)).tier) - before) * direction < 0;
  });
  expect(failed.map(textOf)).to.have.length.at.most(Math.floor(EXCEPTIONS_MAX * REQUESTS.length));
}

const turns =
  (count: number): Change =>
  ({ messages, ...rest }) => ({
    ...rest,
    messages: [
      ...Array.from({ length: count }, (_, at) => [
        user(`And what about number ${at}?`),
        assistant(`It is ${at}.`),
      ]).flat(),
      ...messages,
    ],
  });
const system =
  (characters: number): Change =>
  (request) => ({
    ...request,
    system: `${request.system ?? ''}\n${'The shop sells shoes and bags. '.repeat(Math.ceil(characters / 31))}`,
  });

describe('smart router: what may change the score in which direction', () => {
  it('never lowers it for a demand of JSON in a field', () => {
    expectAlways((request) => ({ ...request, json: true }), 1);
    const { score, signals } = routeSmart({ messages: [user('list the planets')], json: true });
    expect(score).to.be.above(routeSmart({ messages: [user('list the planets')] }).score);
    expect(signals).to.include('json');
  });

  it('never lowers it for earlier turns, and raises it with their number', () => {
    expectAlways(turns(1), 1);
    expectAlways(turns(30), 1);
    const scores = [0, 1, 5, 30, 60].map(
      (count) => routeSmart(turns(count)({ messages: [user('thanks a lot')] })).score,
    );
    expect(scores).to.deep.equal([...scores].sort((one, other) => one - other));
    expect(scores[3]).to.be.above(scores[1]!);
  });

  it('never lowers it for a longer system prompt, and raises it with the length', () => {
    expectAlways(system(1000), 1);
    const request = { messages: [user('thanks a lot')] };
    expect(routeSmart(system(200_000)(request)).score).to.be.above(routeSmart(request).score);
    expect(routeSmart(system(200_000)(request)).signals).to.include('long_input');
  });

  it('never lowers it for a longer payload', () => {
    const words = fc.array(fc.constantFrom('the', 'tenant', 'pays', 'code', 'доказать', 'ok.', 'план', '\n'), {
      minLength: 5,
      maxLength: 60,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 200 }), (all, times) => {
        const text = `${all.join(' ').trim()} `;
        const of = (count: number) =>
          routeSmart({ messages: [user(`Summarize this text:\n\n"""\n${text.repeat(count)}\n"""`)] });
        expect(of(times).score).to.be.at.least(of(1).score);
      }),
      { numRuns: longer(30, 300) },
    );
  });

  for (const text of [
    ' Output strictly JSON: {"name": "..."}',
    ' Верни строго JSON: {"имя": "..."}',
    '\n\nReturn the result as a JSON object matching this schema:\n{"type": "object", "properties": {"a": {"type": "string"}}}',
    ' Analyze the risks step by step.',
    '\nПроанализируй подробно и сравни варианты по критериям.',
    ' Prove it rigorously.',
    ' Докажи это.',
    ' Write at least 2000 words.',
    ' Напиши не менее 3000 слов.',
    '\n\nWrite the code in Python.',
    ' Напиши код на Python.',
    '\n\n```python\ndef f(x):\n    return x + 1\n```',
    ' Solve the equation x^2 + 3x = 7.',
  ]) {
    it(`does not lower the tier for ${JSON.stringify(text)}`, () => expectAlmostAlways(appended(text), 1));
  }

  for (const text of [
    'Translate into English: ',
    'Исправь ошибки: ',
    'Shorten:\n\n',
    'Classify the text: ',
    'Извлеки имена: ',
  ]) {
    it(`does not raise the tier for ${JSON.stringify(text)}`, () => expectAlmostAlways(prepended(text), -1));
  }

  it('gives each signal of the specification points of one sign', () => {
    for (const request of REQUESTS) {
      for (const { name, points } of explain(request).details) {
        const direction = findDirection(name as SignalName);
        if (direction !== 0) expect(points * direction, `${name} in ${textOf(request)}`).to.be.at.least(0);
      }
    }
  });

  it('names what is there: an apology for mistakes corrects none', () => {
    for (const text of [
      'Write a mail of apology to a client for the errors in the invoice; we will correct them tomorrow',
      'Напиши письмо с извинениями клиенту за ошибки в счёте, обещаем исправить и проверить',
    ]) {
      const { tier, signals } = routeSmart({ messages: [user(text)] });
      expect(tier).to.equal('standard');
      expect(signals).to.not.include('fix');
    }
  });
});
