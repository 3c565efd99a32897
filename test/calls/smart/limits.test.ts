import { expect } from 'chai';
import fc from 'fast-check';
import { routeSmart, type SmartRequest } from '../../../lib/calls/smart/route.ts';
import { ANY_CHARACTER } from '../../../testkit/code-points.ts';
import { longer } from '../../../testkit/long.ts';

function ask(text: string): SmartRequest {
  return { messages: [{ role: 'user', content: [{ type: 'text', text }] }] };
}

interface Rounds {
  readonly calls: number;
  /** A cost that is low enough to stop measuring. */
  readonly enough?: number;
}

const ROUNDS_MIN = 4;
const ROUNDS_MAX = 60;
/** For a machine with much other work to do. */
const PATIENCE_MS = 120_000;

/** Microseconds of processor time of the fastest of several rounds: other work on the machine only adds. */
function costOf(request: SmartRequest, { calls, enough = 0 }: Rounds): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < (enough === 0 ? ROUNDS_MIN : ROUNDS_MAX) && least >= enough; round++) {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call++) routeSmart(request);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / calls);
  }
  return least;
}

/** A text of one piece in memory, as a parsed body has it. */
function flat(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

const RUSSIAN =
  'Подготовь подробный план открытия магазина мебели: аренда, ремонт, закупка, реклама, найм; учти расходы и риски. ';

/** What a request of any size may cost. */
const HUGE_MICROS = 5000;

describe('smart router limits', function () {
  this.timeout(PATIENCE_MS);

  describe('a request of 40 MB takes at most 5 ms', () => {
    const pieces = [
      'a',
      ' ',
      '\n',
      '"',
      '«',
      '`',
      '```\n',
      '\u0301\u0316',
      '{',
      '1',
      ', ',
      'translate ',
      'перевод ',
      '? ',
      '😀',
      ':',
      '1,000 ',
      '_ ',
      ' | ',
      '- a\n',
      '\u200b',
      '\ud835',
      '\\',
      '$x^2$ ',
      'a.b.c.',
      'Text: x\n',
      "'''\n",
      '"""\nx = 1\n',
      'как_',
      'напиши и ',
      'write a. ',
      'как что? ',
      'и ',
      'to ',
      '(a) ',
      '10^5 ',
    ];
    for (const piece of longer(
      pieces.filter((_, at) => at % 6 === 0),
      pieces,
    )) {
      it(JSON.stringify(piece), () => {
        const request = ask(flat(piece.repeat(Math.ceil(40e6 / 2 / piece.length))));
        expect(costOf(request, { calls: 2, enough: HUGE_MICROS })).to.be.below(HUGE_MICROS);
      });
    }

    it('in a hundred thousand messages', () => {
      const messages = Array.from({ length: 100_000 }, (_, index) => ({
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: [{ type: 'text' as const, text: RUSSIAN.repeat(4) }],
      }));
      expect(costOf({ messages }, { calls: 2, enough: HUGE_MICROS })).to.be.below(HUGE_MICROS);
    });

    it('in a hundred thousand blocks, or in the system prompt', () => {
      const content = Array.from({ length: 100_000 }, () => ({ type: 'text' as const, text: RUSSIAN }));
      expect(costOf({ messages: [{ role: 'user', content }] }, { calls: 2, enough: HUGE_MICROS })).to.be.below(
        HUGE_MICROS,
      );
      expect(
        costOf({ ...ask('hi'), system: flat(RUSSIAN.repeat(100_000)) }, { calls: 2, enough: HUGE_MICROS }),
      ).to.be.below(HUGE_MICROS);
    });
  });

  describe('grows no faster than the text', () => {
    for (const piece of [
      '"a ',
      "'a ",
      '«a ',
      '`a` ',
      'a_',
      '((',
      'a, ',
      '\n\n',
      'x = 1;\n',
      'напиши и ',
      'write a. ',
      'как что? ',
      'e.g. ',
      '"""\n',
    ].filter((_, at) => longer(at % 3 === 0, true))) {
      it(JSON.stringify(piece), () => {
        const short = costOf(ask(flat(piece.repeat(Math.ceil(1000 / piece.length)))), { calls: 100 });
        const bound = short * 16 + 100;
        const long = ask(flat(piece.repeat(Math.ceil(8000 / piece.length))));
        expect(costOf(long, { calls: 25, enough: bound })).to.be.below(bound);
      });
    }
  });

  it('scores a message few times, however many orders nest in it or follow each other', () => {
    for (const text of ['Translate: '.repeat(12), 'Prove it. '.repeat(1000)]) {
      expect(costOf(ask(flat(text)), { calls: 2, enough: 2000 }), text.slice(0, 10)).to.be.below(2000);
    }
  });

  it('reads the start and the end of a long message, of one block or many', () => {
    const filler = 'The tenant pays the rent in advance. '.repeat(3000);
    expect(routeSmart(ask(`Переведи договор на английский.\n\n${filler}`)).signals).to.include('translate');
    expect(routeSmart(ask(`${filler}\n\nTranslate the text above into Spanish.`)).signals).to.include('translate');
    const content = [`${filler}`, filler, 'Translate the text above into Spanish.'].map((text) => ({
      type: 'text' as const,
      text,
    }));
    expect(routeSmart({ messages: [{ role: 'user', content }] }).signals).to.include('translate');
  });

  describe('unusual writing', () => {
    const same: readonly (readonly [string, string])[] = [
      ['fullwidth letters', 'ｔｒａｎｓｌａｔｅ　ｔｏ　ｆｒｅｎｃｈ: hello'],
      ['mathematical bold', '𝐭𝐫𝐚𝐧𝐬𝐥𝐚𝐭𝐞 to french: hello'],
      ['invisible characters', 'trans\u200blate to fre\u00adnch: hello'],
      ['capitals', 'TRANSLATE TO FRENCH: HELLO'],
      ['emoji', '🇫🇷🙏 translate to french 👉: hello 😀'],
      ['look-alikes', 'пеpeвeди нa фpaнцузский: hello'],
      ['decomposed letters', 'переведи на французскии\u0306: hello'],
      ['a typo', 'transalte to french: hello'],
      ['a Russian typo', 'перевиди на французский: hello'],
      ['mixed text', 'pls переведи this на english: привет'],
    ];
    for (const [name, prompt] of same) {
      it(name, () => expect(routeSmart(ask(prompt)).signals).to.include('translate'));
    }
  });

  it('does not score an unknown script as trivial', () => {
    for (const prompt of ['写一个快速排序算法并分析其复杂度', 'اكتب مقالا طويلا عن تاريخ الفلك']) {
      expect(routeSmart(ask(prompt)).tier).to.equal('standard');
    }
  });

  it('handles any text', () => {
    const empty: SmartRequest[] = [
      { messages: [] },
      { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'hi' }] }] },
      { messages: [{ role: 'user', content: [] }] },
      ask(''),
      ask(' \n\n\t'),
      ask('\ud800'),
      ask('\udfff\ud835'),
      ask('```'),
      { ...ask('hi'), system: '' },
    ];
    for (const request of empty) expect(routeSmart(request).tier).to.be.oneOf(['lite', 'standard']);
    const word = fc.constantFrom(
      'write',
      'напиши',
      'код',
      ':',
      '\n',
      '```',
      '"',
      '«',
      '»',
      '(',
      'x',
      '=',
      '10',
      '^',
      '?',
      'and',
    );
    const text = fc.oneof(
      fc.string({ unit: ANY_CHARACTER, maxLength: 300 }),
      fc.array(word, { maxLength: 60 }).map((all) => all.join(' ')),
    );
    const turn = fc.record({
      role: fc.constantFrom('user' as const, 'assistant' as const),
      content: fc.array(fc.record({ type: fc.constant('text' as const), text }), { maxLength: 3 }),
    });
    const any = fc.record({ system: fc.option(text, { nil: undefined }), messages: fc.array(turn, { maxLength: 5 }) });
    fc.assert(
      fc.property(any, (request) => {
        const { score, tier } = routeSmart(request);
        expect(score).to.be.within(0, 100);
        expect(routeSmart(request)).to.deep.include({ score, tier });
      }),
      { numRuns: longer(40, 300) },
    );
  });
});
