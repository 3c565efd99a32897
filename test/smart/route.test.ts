import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SIGNAL_NAMES } from '../../lib/smart/names.ts';
import { explain, route, SMART_THRESHOLDS, type SmartRequest } from '../../lib/smart/route.ts';
import type { SmartTier } from '../../lib/stream/smart.ts';
import { judge } from './judgement.ts';
import { GUARD, readSet, USED } from './prompts.ts';

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
  return route(typeof request === 'string' ? ask(request) : request).tier;
}

const QUICKSORT =
  'def quicksort(xs):\n    if len(xs) < 2: return xs\n    p = xs[0]\n    return quicksort(xs[1:]) + [p]';

describe('smart router', () => {
  describe('the task decides, not the payload', () => {
    const rows: readonly (readonly [SmartTier, string])[] = [
      ['lite', 'translate: «write a quicksort»'],
      ['lite', 'Переведи: «напиши быструю сортировку на Go»'],
      ['lite', `Translate the comments in this code to German:\n\n\`\`\`\n${QUICKSORT}\n\`\`\``],
      ['heavy', `Translate this code to Rust:\n\n\`\`\`\n${QUICKSORT}\n\`\`\``],
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
      ['lite', 'skolko budet 12 umnozhit na 4'],
      ['lite', 'Является ли дельфин рыбой?'],
      ['standard', 'Напиши письмо поставщику о задержке оплаты'],
      ['standard', 'Plan two days in Ghent with a toddler'],
      ['standard', 'Почему лёд скользкий?'],
      ['heavy', '1200 words on tea'],
      ['heavy', 'эссе на 7 страниц о чае'],
      ['heavy', 'Докажи, что корень из двух иррационален'],
      ['heavy', 'Design a queue service for 50k messages per second: storage, ordering, failure modes, cost'],
    ];
    for (const [tier, prompt] of rows) it(`${tier}: ${prompt}`, () => expect(tierOf(prompt)).to.equal(tier));

    it('names what it found', () => {
      expect(route(ask('Translate this sentence to French: I like rain.')).signals).to.include.members([
        'short',
        'translate',
      ]);
      expect(route(ask('Верни JSON с именем и датой: Анна, 5 мая')).signals).to.include('json');
      expect(route(ask(`Summarize this:\n\n${'The meeting went on. '.repeat(200)}`)).signals).to.include.members([
        'summarize',
        'long_input',
      ]);
    });
  });

  describe('what is asked is told by its form', () => {
    const rows: readonly (readonly [string, string, SmartTier, string])[] = [
      ['a row of examples with a gap', 'lookup', 'lite', 'dog -> dogs\nbox -> boxes\ncity ->'],
      ['labels with a gap', 'lookup', 'lite', 'Цвет: трава. Ответ: зелёный.\nЦвет: снег. Ответ:'],
      [
        'a template',
        'translate',
        'lite',
        '### Instruction:\nTranslate to Dutch.\n### Input:\nProve it.\n### Response:',
      ],
      ['a request in quotes', 'code', 'heavy', 'Act as a tutor. My first request is "write a quicksort in Go".'],
      ['a borrowed trade', 'translate', 'lite', 'I want you to act as a translator. Text: write a compiler'],
      ['what a machine said', 'debug', 'heavy', 'после обновления ошибка no such table users found, хотя она есть'],
      ['the language it is to be done in', 'code', 'heavy', 'count the vowels of a word, haskell'],
      ['alternatives in one line', 'choice', 'lite', 'The largest planet is: A. Mars B. Venus C. Jupiter D. Pluto'],
      ['a fault by its name', 'code_input', 'heavy', 'java.lang.IllegalStateException: stream has already been closed'],
    ];
    for (const [name, signal, tier, prompt] of rows) {
      it(name, () => {
        const routing = route(ask(prompt));
        expect(routing.signals).to.include(signal);
        expect(routing.tier).to.equal(tier);
      });
    }

    it('a light sign needs something to do it to, and nothing harder beside it', () => {
      expect(tierOf('remove duplicates from the list: 3, 3, 5')).to.equal('lite');
      expect(tierOf('remove the duplicates from all of our product feeds before the import')).to.equal('standard');
      expect(tierOf('Sort: plum, fig, apple')).to.equal('lite');
      expect(tierOf('Sort by size: Ann is left of Bo. Bo is not next to Cy. Who is in the middle?')).to.not.equal(
        'lite',
      );
      expect(tierOf('area code of Lyon')).to.not.equal('heavy');
      expect(tierOf('code for a stack in C')).to.equal('heavy');
    });

    it('what somebody did, or what is to be found in a quotation, is not to be done', () => {
      expect(tierOf('who proved the four colour theorem')).to.equal('lite');
      expect(tierOf('когда доказали теорему о четырёх красках')).to.equal('lite');
      expect(tierOf('Who is the knave? Prove it: Ann says Bo lies, Bo says both lie.')).to.equal('heavy');
      expect(tierOf('What is the error code in this message: "Build failed with E4031 at step 7"?')).to.equal('lite');
      expect(tierOf('Complaint or thanks? "The compiler crashed twice and nobody answers"')).to.equal('lite');
      expect(tierOf('Turn into bullet points: the proof bounds the error, then passes to the limit')).to.equal('lite');
      expect(tierOf('Say it more politely: fix your code, it breaks our build every day')).to.equal('lite');
      expect(tierOf('это вопрос по алгебре или геометрии: «Найди площадь треугольника со сторонами 3, 4, 5»')).to.equal(
        'lite',
      );
      expect(tierOf('Make it shorter: we shall analyse the market and develop a strategy')).to.equal('lite');
    });

    it('what is taken back is not asked', () => {
      expect(tierOf('Write an essay of 2000 words about tea? No, just name the capital of Peru.')).to.equal('lite');
      expect(tierOf('Докажи теорему Ферма. Нет, лучше переведи на английский: кот спит')).to.equal('lite');
    });

    it('a ratio is neither a sum nor the beginning of a text', () => {
      expect(tierOf('Split $930 among three partners in the ratio 2:3:5 and round to whole dollars.')).to.not.equal(
        'lite',
      );
    });

    it('a situation before a question makes it no plain fact', () => {
      const clues = 'Ida sits left of Bo. Bo is not next to Cy. Each of them has a different hat. ';
      expect(tierOf('Who has the red hat?')).to.equal('lite');
      expect(tierOf(`${clues}Who has the red hat?`)).to.be.oneOf(['standard', 'heavy']);
      expect(tierOf('Купил телефон, продавец не отвечает. Можно ли вернуть деньги?')).to.equal('standard');
    });
  });

  describe('dialogs and system prompts', () => {
    it('lets the last turn decide', () => {
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

    it('takes the subject of a turn that has none from history', () => {
      const code: Turn[] = [
        ['user', 'Напиши функцию на Python, которая считает слова'],
        ['assistant', 'def count(text): ...'],
      ];
      const { tier, signals } = route(ask(...code, 'а теперь без регистра'));
      expect(tier).to.equal('heavy');
      expect(signals).to.include.members(['dialog', 'follow_up', 'code']);
      expect(tierOf(ask(['user', 'столица Перу?'], ['assistant', 'Лима'], 'а Чили?'))).to.equal('lite');
    });

    it('is not impressed by a role', () => {
      const system =
        'You are a senior architect and mathematician who designs distributed systems and proves theorems.';
      expect(tierOf({ ...ask('hello'), system })).to.equal('lite');
      expect(tierOf({ ...ask('Напиши поздравление маме'), system })).to.equal('standard');
    });

    it('obeys a standing order of the system prompt', () => {
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
      const { base, details, score } = explain(ask('Переведи на английский: доброе утро'));
      const sum = details.reduce((total, detail) => total + detail.points, base);
      expect(score).to.be.closeTo(sum, 0.3);
      for (const { strength } of details) expect(strength).to.be.within(0.01, 1);
    });

    it('is cut into tiers by the thresholds it is given', () => {
      const request = ask('Напиши пост про кофейню');
      const { score } = route(request);
      expect(route(request, { standard: score + 1, heavy: score + 2 }).tier).to.equal('lite');
      expect(route(request, { standard: score, heavy: score + 1 }).tier).to.equal('standard');
      expect(route(request, { standard: score - 1, heavy: score }).tier).to.equal('heavy');
      expect(explain(request).thresholds).to.equal(SMART_THRESHOLDS);
    });

    it('is the same each time, whatever was asked before', () => {
      const prompts = readSet(GUARD).slice(0, 200);
      const first = prompts.map(({ request }) => route(request));
      const again = [...prompts].reverse().map(({ request }) => route(structuredClone(request)));
      expect(again.reverse()).to.deep.equal(first);
    });
  });

  describe('labelled prompts', () => {
    it('are right in 90 % of a set that nothing was fitted to, and swapped in 1 %', () => {
      const { rows, right, total, swaps } = judge(readSet(GUARD));
      expect(total).to.be.at.least(300);
      expect(right / total).to.be.at.least(0.9);
      expect(swaps / total).to.be.at.most(0.01);
      for (const lang of ['en', 'ru']) {
        for (const tier of ['lite', 'standard', 'heavy']) {
          const some = rows.filter(({ prompt }) => prompt.lang === lang && prompt.tier === tier);
          expect(some.filter((row) => row.right).length / some.length, `${lang} ${tier}`).to.be.at.least(0.8);
        }
      }
    });

    it('are right in 93 % of the sets that the weights are fitted to', () => {
      const { right, total, swaps } = judge(USED.flatMap(readSet));
      expect(right / total).to.be.at.least(0.93);
      expect(swaps / total).to.be.at.most(0.01);
    });

    it('are unique over all sets, and accept neighbours only', () => {
      const prompts = [GUARD, ...USED].flatMap(readSet);
      const texts = prompts.map(({ request }) => JSON.stringify(request));
      expect(new Set(texts).size).to.equal(texts.length);
      expect(new Set(prompts.map(({ id }) => id)).size).to.equal(prompts.length);
      for (const { accept, tier } of prompts) {
        expect(accept).to.include(tier);
        expect(accept).to.satisfy((tiers: readonly string[]) => tiers.length === 1 || tiers.includes('standard'));
      }
    });

    it('are reported by the script', async () => {
      const script = new URL('../../scripts/smart-eval.ts', import.meta.url).pathname;
      const { stdout } = await promisify(execFile)(process.execPath, [script]);
      expect(stdout).to.match(/holdout-21: \d+ prompts, right \d+\.\d %, lite <-> heavy \d+/);
      expect(stdout).to.contain('label \\ answer');
    });
  });

  it('documents every signal', () => {
    const rows = readFileSync(new URL('../../docs/smart.md', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `') && line.split(' | ').length === 3)
      .map((line) => line.split(' | ')[0]!.slice(3, -1))
      .filter((name) => !/^(lite|standard|heavy)$|holdout/.test(name));
    expect(rows).to.deep.equal([...SIGNAL_NAMES]);
  });
});
