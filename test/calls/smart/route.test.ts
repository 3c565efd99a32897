import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { SmartTier } from '../../../lib/base/smart-tiers.ts';
import { SIGNAL_NAMES } from '../../../lib/calls/smart/names.ts';
import { explain, routeSmart, SMART_THRESHOLDS, type SmartRequest } from '../../../lib/calls/smart/route.ts';
import { itLong, oneIn } from '../../../testkit/long.ts';
import { judge } from './judgement.ts';
import { GUARD, HELD, LATER_HELD, readSet, type SetName, STRANGERS, USED } from './prompts.ts';
import { changedRoutings } from './routings.ts';

type Turn = readonly ['user' | 'assistant', string];

function ask(...turns: readonly (Turn | string)[]): SmartRequest {
  return {
    messages: turns.map((turn) => {
      const [role, text] = typeof turn === 'string' ? (['user', turn] as const) : turn;
      return { role, content: [{ type: 'text', text }] };
    }),
  };
}

function tierOf(request: SmartRequest | string): SmartTier {
  return routeSmart(typeof request === 'string' ? ask(request) : request).tier;
}

const QUICKSORT =
  'def quicksort(xs):\n    if len(xs) < 2: return xs\n    p = xs[0]\n    return quicksort(xs[1:]) + [p]';

describe('smart router', () => {
  describe('the task decides, not the payload', () => {
    const rows: readonly (readonly [SmartTier, string])[] = [
      ['lite', 'translate: «write a quicksort»'],
      ['lite', 'Переведи: «напиши быструю сортировку на Go»'],
      ['lite', `Translate the comments in this code to German:\n\n\`\`\`\n${QUICKSORT}\n\`\`\``],
      ['heavy', 'write a quicksort'],
      ['heavy', `Fix it:\n\n${QUICKSORT}`],
      ['lite', 'Fix the grammar: He write a program and prove a theorem.'],
      ['lite', 'Classify this log line: 2024-01-01 10:00:00 ERROR NullPointerException at Order.java:42'],
      [
        'lite',
        'Сократи до одной фразы: Докажите, что множество простых чисел бесконечно, и разработайте алгоритм их поиска.',
      ],
      ['lite', 'Extract all names:\n\nAnna wrote a compiler. Boris proved the theorem. Analyze the risks, said Clara.'],
    ];
    for (const [tier, prompt] of rows) {
      it(`${tier}: ${prompt.slice(0, 60).replaceAll('\n', ' ')}`, () => expect(tierOf(prompt)).to.equal(tier));
    }
  });

  describe('tiers', () => {
    const rows: readonly (readonly [SmartTier, string])[] = [
      ['lite', 'привет 👋'],
      ['lite', 'What is the capital of Sweden?'],
      ['lite', 'Является ли дельфин рыбой?'],
      ['standard', 'Напиши письмо поставщику о задержке оплаты'],
      ['standard', 'Plan two days in Ghent with a toddler'],
      ['standard', 'Почему лёд скользкий?'],
      ['heavy', '1200 words on tea'],
      ['heavy', 'эссе на 7 страниц о чае'],
      ['heavy', 'Design a queue service for 50k messages per second: storage, ordering, failure modes, cost'],
    ];
    for (const [tier, prompt] of rows) it(`${tier}: ${prompt}`, () => expect(tierOf(prompt)).to.equal(tier));

    it('calls a request short only if it is', () => {
      const request = 'Tell me about the history of this harbour and what became of its old cranes and ships. ';
      const { signals } = routeSmart(ask(request.repeat(20)));
      expect(signals).to.include.members(['length', 'long_input']).and.not.include('short');
      expect(routeSmart(ask('Hi. Translate "rain".')).signals).to.include.members(['short', 'length']);
    });

    it('names the signals it found', () => {
      expect(routeSmart(ask('Translate this sentence to French: I like rain.')).signals).to.include.members([
        'short',
        'translate',
      ]);
      expect(routeSmart(ask('Верни JSON с именем и датой: Анна, 5 мая')).signals).to.include('json');
      expect(routeSmart(ask(`Summarize this:\n\n${'The meeting went on. '.repeat(200)}`)).signals).to.include.members([
        'shorten',
        'long_input',
      ]);
    });
  });

  describe('work on a long text is light, wherever the request stands and whatever the text says', () => {
    const text =
      'Dear team,\n\nplease analyse the latency of the checkout service, design a new cache and prove that it holds under ' +
      'load. Write integration tests in Python and debug the timeout together. Ida Holm (ida@north.example) explains the ' +
      'architecture on 4 May; the budget of 12,400 euro covers a 2000-word report with risks, trade-offs and a roadmap.\n\n' +
      'Best,\nPaul';
    const requests = ['Translate this into Finnish', 'Shorten this to two sentences', 'Extract all names and dates'];
    const forms: readonly ((request: string) => string)[] = [
      (request) => `${request}.\n\n${text}`,
      (request) => `${request}:\n${text}`,
      (request) => `${text}\n\n${request}.`,
      (request) => `${request}\n"""\n${text}\n"""`,
      (request) => `<letter>\n${text}\n</letter>\n\n${request}`,
      (request) => `${request}\n---\n${text}`,
      (request) => `Hello! I have this letter:\n\n${text}\n\n${request}, please.`,
    ];
    for (const request of requests) {
      for (const [index, form] of forms.entries()) {
        it(`${request}, form ${index + 1}`, () => expect(tierOf(form(request))).to.equal('lite'));
      }
    }

    it('also if only tags, triple quotes or fences mark it', () => {
      for (const [open, close] of [
        ['<letter>', '</letter>'],
        ['"""', '"""'],
        ['```', '```'],
      ]) {
        const { details } = explain(ask(`${open}\n${text}\n${close}\n\nShorten it`));
        expect(
          details.flatMap(({ evidence }) => evidence),
          open,
        ).to.include('payload.given');
      }
    });

    it('but not work that creates something from it', () => {
      expect(tierOf(`Write a friendly reply to this letter.\n\n${text}`)).to.equal('standard');
      expect(tierOf(`Write a Python script that parses letters like this one.\n\n${text}`)).to.equal('heavy');
    });
  });

  describe('dialogs and system prompts', () => {
    it('lets the last message decide', () => {
      const essay: Turn[] = [
        ['user', 'Write a long essay about Rome with five chapters'],
        ['assistant', 'Rome ...'],
      ];
      expect(tierOf(ask(...essay, 'thanks!'))).to.equal('lite');
      expect(tierOf(ask(...essay, 'Translate the first sentence to Latin'))).to.equal('lite');
      expect(tierOf(ask(['user', 'hi'], ['assistant', 'Hello!'], 'write a parser for ini files in go'))).to.equal(
        'heavy',
      );
    });

    it('takes the subject of a message without one from the history', () => {
      const code: Turn[] = [
        ['user', 'Напиши функцию на Python, которая считает слова'],
        ['assistant', 'def count(text): ...'],
      ];
      const { tier, signals } = routeSmart(ask(...code, 'а теперь без регистра'));
      expect(tier).to.equal('heavy');
      expect(signals).to.include('dialog');
    });

    it('ignores roles', () => {
      const system =
        'You are a senior architect and mathematician who designs distributed systems and proves theorems.';
      expect(tierOf({ ...ask('hello'), system })).to.equal('lite');
      expect(tierOf({ ...ask('Напиши поздравление маме'), system })).to.equal('standard');
    });

    it('follows a standing order of the system prompt', () => {
      const system = 'Translate every user message into English. Output the translation only.';
      expect(tierOf({ ...ask('Напиши программу сортировки и докажи её корректность'), system })).to.equal('lite');
      const able = 'You are a helpful assistant that can translate texts and write code.';
      expect(tierOf({ ...ask('Напиши программу сортировки на Rust'), system: able })).to.equal('heavy');
    });

    it('reads the last user message even if an assistant message follows it', () => {
      expect(tierOf(ask(['user', 'Write a quicksort in C'], ['assistant', 'Sure:']))).to.equal('heavy');
    });
  });

  describe('score', () => {
    it('adds up', () => {
      const { base, details, score } = explain(ask('Напиши пост про кофейню'));
      const sum = details.reduce((total, detail) => total + detail.points, base);
      expect(score).to.equal(sum);
      for (const { evidence } of details) expect(evidence).to.not.be.empty;
    });

    it('is divided into tiers by the given thresholds', () => {
      const request = ask('Напиши пост про кофейню');
      const { score } = routeSmart(request);
      expect(routeSmart(request, { standard: score + 1, heavy: score + 2 }).tier).to.equal('lite');
      expect(routeSmart(request, { standard: score, heavy: score + 1 }).tier).to.equal('standard');
      expect(routeSmart(request, { standard: score - 1, heavy: score }).tier).to.equal('heavy');
      expect(explain(request).thresholds).to.equal(SMART_THRESHOLDS);
    });

    it('does not depend on earlier requests', () => {
      const prompts = readSet(GUARD).slice(0, 200);
      const first = prompts.map(({ request }) => routeSmart(request));
      const again = [...prompts].reverse().map(({ request }) => routeSmart(structuredClone(request)));
      expect(again.reverse()).to.deep.equal(first);
    });
  });

  describe('labelled prompts', () => {
    it('are right in 95 % of an unseen set, with at most 1 % swapped between lite and heavy', () => {
      const { rows, right, total, swaps } = judge(readSet(GUARD));
      expect(total).to.be.at.least(300);
      expect(right / total).to.be.at.least(0.95);
      expect(swaps / total).to.be.at.most(0.01);
      for (const lang of ['en', 'ru']) {
        for (const tier of ['lite', 'standard', 'heavy']) {
          const some = rows.filter(({ prompt }) => prompt.lang === lang && prompt.tier === tier);
          expect(some.filter((row) => row.right).length / some.length, `${lang} ${tier}`).to.be.at.least(0.8);
        }
      }
    });

    it('of strangers are right in 90 % of those that were never learnt from, with at most 1.5 % swapped', () => {
      const { rows, right, total, swaps } = judge(readSet(HELD));
      const accuracyOf = (some: typeof rows) => some.filter((row) => row.right).length / some.length;
      expect(total).to.be.at.least(700);
      expect(right / total).to.be.at.least(0.9);
      expect(swaps / total).to.be.at.most(0.015);
      for (const lang of ['en', 'ru']) {
        expect(accuracyOf(rows.filter(({ prompt }) => prompt.lang === lang)), lang).to.be.at.least(0.9);
      }
      for (const tier of ['lite', 'standard', 'heavy']) {
        expect(accuracyOf(rows.filter(({ prompt }) => prompt.tier === tier)), tier).to.be.at.least(0.88);
      }
    });

    it('of strangers, labelled by others, are right in 79 % of those that were never learnt from', () => {
      const { right, total, swaps } = judge(LATER_HELD.flatMap(readSet));
      expect(total).to.be.at.least(1000);
      expect(right / total).to.be.at.least(0.79);
      expect(swaps / total).to.be.at.most(0.04);
    });

    it('of strangers are held back by a hash of the last message', () => {
      for (const name of [...STRANGERS, HELD] as const) {
        for (const { id, request } of readSet(name)) {
          const text = request.messages.at(-1)?.content[0]?.text ?? '';
          const held = createHash('sha256').update(text).digest()[0]! % 3 === 0;
          expect(held, id).to.equal(name === HELD);
        }
      }
    });

    itLong('make the weights in the file', async () => {
      const script = new URL('../../../scripts/smart-train.ts', import.meta.url).pathname;
      await promisify(execFile)(process.execPath, [script, '--check']);
    })?.timeout(120_000);

    itLong('are right in 97 % of the training sets', () => {
      const { right, total, swaps } = judge(USED.flatMap(readSet));
      expect(right / total).to.be.at.least(0.97);
      expect(swaps / total).to.be.at.most(0.005);
    });

    it('keep their pinned routing', () => {
      expect(changedRoutings([GUARD, ...oneIn(4, USED)])).to.deep.equal([]);
    });

    it('are unique over all sets, and accept neighbouring tiers only', () => {
      const prompts = [GUARD, HELD, ...LATER_HELD, ...USED].flatMap((name) => readSet(name as SetName));
      const texts = prompts.map(({ request }) => JSON.stringify(request));
      expect(new Set(texts).size).to.equal(texts.length);
      expect(new Set(prompts.map(({ id }) => id)).size).to.equal(prompts.length);
      for (const { accept, tier } of prompts) {
        expect(accept).to.include(tier);
        expect(accept).to.satisfy((tiers: readonly string[]) => tiers.length === 1 || tiers.includes('standard'));
      }
    });

    itLong('are reported by the script', async () => {
      const script = new URL('../../../scripts/smart-eval.ts', import.meta.url).pathname;
      const { stdout } = await promisify(execFile)(process.execPath, [script]);
      expect(stdout).to.match(/strangers-held: \d+ prompts, right \d+\.\d %, lite <-> heavy \d+/);
      expect(stdout).to.contain('label \\ answer');
    });
  });

  it('documents every signal', () => {
    const rows = readFileSync(new URL('../../../docs/smart.md', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `') && line.split(' | ').length === 3)
      .map((line) => line.split(' | ')[0]!.slice(3, -1))
      .filter((name) => !/^(lite|standard|heavy)$|holdout/.test(name));
    expect(rows).to.deep.equal([...SIGNAL_NAMES]);
  });
});
