// Words for how a call came about: how it ended, how smart chose its model, and by which signals.

import type { SmartTier } from '../../base/smart-tiers.ts';
import type { SignalName } from '../../calls/smart/route.ts';
import type { Charge, Usage } from '../../money/decide.ts';
import { defineWords, type Language } from '../language.ts';

interface Words {
  readonly endings: Readonly<Record<string, string>>;
  readonly tiers: Readonly<Record<SmartTier, string>>;
  readonly signals: Readonly<Record<SignalName, string>>;
}

const WORDS = defineWords<Words>({
  en: {
    endings: {
      stop: 'the answer is complete',
      length: 'cut off at the token limit',
      filter: "ended by the provider's content rules",
      tool: 'the model asked for a tool',
      other: 'the provider ended it without saying why',
      error: 'the provider failed midway; what was delivered is charged',
      gone: 'the client left; what was produced is charged',
      held: 'it is still running',
      released: 'it failed, and nothing was charged',
      expired: 'our process ended; nothing was charged',
      refunded: 'it failed, and its price was refunded',
      settled: 'done',
      repeated: 'it was sent again under its idempotency key; only the repeat was charged',
    },
    tiers: { lite: 'a simple task', standard: 'an everyday task', heavy: 'a hard task' },
    signals: {
      short: 'short',
      greeting: 'a greeting',
      translate: 'translation',
      fix: 'fixing errors',
      shorten: 'shortening',
      rewrite: 'rewriting',
      classify: 'classification',
      extract: 'extraction',
      convert: 'conversion',
      lookup: 'looking something up',
      given_text: 'a text is given',
      fact: 'a question of fact',
      closed: 'a closed question',
      arithmetic: 'arithmetic',
      brief: 'a brief answer is wanted',
      compose: 'writing',
      explain: 'explanation',
      advice: 'advice',
      code: 'code',
      debug: 'debugging',
      math: 'mathematics',
      proof: 'a proof',
      logic: 'logic',
      analysis: 'analysis',
      design: 'design',
      long_output: 'a long answer is wanted',
      json: 'strict JSON',
      long_input: 'a long request',
      dialog: 'a long dialog',
    },
  },
  ru: {
    endings: {
      stop: 'ответ полный',
      length: 'оборван на наибольшем числе токенов',
      filter: 'прерван правилами поставщика',
      tool: 'модель попросила инструмент',
      other: 'поставщик закончил, не объяснив почему',
      error: 'поставщик не справился посередине; списано за то, что дошло',
      gone: 'клиент ушёл; списано за то, что успело появиться',
      held: 'ещё идёт',
      released: 'не вышло, ничего не списано',
      expired: 'наш процесс закончился, ничего не списано',
      refunded: 'не вышло, цена возвращена',
      settled: 'сделано',
      repeated: 'отправлен ещё раз с тем же ключом идемпотентности; списано только за повтор',
    },
    tiers: { lite: 'простая задача', standard: 'обычная задача', heavy: 'трудная задача' },
    signals: {
      short: 'коротко',
      greeting: 'приветствие',
      translate: 'перевод',
      fix: 'исправление ошибок',
      shorten: 'сокращение',
      rewrite: 'переписывание',
      classify: 'классификация',
      extract: 'извлечение',
      convert: 'преобразование',
      lookup: 'поиск сведений',
      given_text: 'дан текст',
      fact: 'вопрос о факте',
      closed: 'закрытый вопрос',
      arithmetic: 'арифметика',
      brief: 'нужен краткий ответ',
      compose: 'сочинение',
      explain: 'объяснение',
      advice: 'совет',
      code: 'код',
      debug: 'отладка',
      math: 'математика',
      proof: 'доказательство',
      logic: 'логика',
      analysis: 'анализ',
      design: 'проектирование',
      long_output: 'нужен длинный ответ',
      json: 'строгий JSON',
      long_input: 'длинный запрос',
      dialog: 'долгий диалог',
    },
  },
});

/** Why a call ended; of a text that was paid for by what was noted then. */
export function endingWords(language: Language, { kind, state }: Charge, { ended = 'stop', ...usage }: Usage): string {
  const { endings } = WORDS[language];
  const told = usage.repeated_as !== undefined ? 'repeated' : kind === 'text' ? String(ended) : state;
  const name = state === 'settled' ? told : state;
  return endings[name] ?? name;
}

/** As smart scored a request; what it does not know any more stays as it is called. */
export function smartWords(language: Language, tier: string, signals: string): string {
  const words = WORDS[language];
  const tiers: Readonly<Record<string, string>> = words.tiers;
  const names: Readonly<Record<string, string>> = words.signals;
  const told = signals
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => names[name] ?? name);
  return `${tiers[tier] ?? tier} (${tier})${told.length > 0 ? `: ${told.join(', ')}` : ''}`;
}
