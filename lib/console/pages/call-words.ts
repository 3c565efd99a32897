// Texts for how a call ended, and how and by which signals smart chose its model.

import type { SmartTier } from '../../base/smart-tiers.ts';
import type { SignalName } from '../../calls/smart/route.ts';
import type { Attempt, AttemptEnding } from '../../money/attempt.ts';
import type { Charge, Usage } from '../../money/decide.ts';
import { defineWords, type Language } from '../language.ts';

interface Words {
  readonly endings: Readonly<Record<string, string>>;
  /** Why a call failed, by the ending of its last attempt, and what to do. */
  readonly causes: Partial<Readonly<Record<AttemptEnding, string>>>;
  readonly tiers: Readonly<Record<SmartTier, string>>;
  readonly signals: Readonly<Record<SignalName, string>>;
}

const WORDS = defineWords<Words>({
  en: {
    endings: {
      stop: 'answered in full',
      length: 'answer cut off: max_tokens limit reached',
      filter: "stopped by the provider's content rules",
      tool: 'the model called a tool',
      other: 'ended by the provider without a reason',
      error: 'the provider failed midway; the delivered part is charged',
      gone: 'the client disconnected; the generated part is charged',
      held: 'still running',
      released: 'failed, not charged',
      expired: 'interrupted by a failure on our side, not charged',
      refunded: 'failed, refunded',
      settled: 'done',
      repeated: 'sent again with the same idempotency key; only the repeat was charged',
    },
    causes: {
      refused: 'the provider refused the request; try again or choose another model',
      failed: 'the provider failed; try again',
      timeout: 'the provider did not answer in time; try again or shorten the request',
      cut: 'the connection to the provider broke; try again',
      left: 'the client disconnected before the answer',
      lost: 'interrupted by a failure on our side; try again',
    },
    tiers: { lite: 'simple task', standard: 'everyday task', heavy: 'hard task' },
    signals: {
      short: 'short',
      length: 'length of the request',
      greeting: 'greeting',
      translate: 'translation',
      fix: 'fixing errors',
      shorten: 'shortening',
      rewrite: 'rewriting',
      classify: 'classification',
      extract: 'extraction',
      convert: 'conversion',
      lookup: 'lookup',
      given_text: 'text provided',
      fact: 'factual question',
      closed: 'closed question',
      arithmetic: 'arithmetic',
      brief: 'short answer wanted',
      compose: 'writing',
      explain: 'explanation',
      advice: 'advice',
      wording: 'wording',
      code: 'code',
      debug: 'debugging',
      math: 'mathematics',
      proof: 'proof',
      logic: 'logic',
      analysis: 'analysis',
      design: 'design',
      long_output: 'long answer wanted',
      json: 'strict JSON',
      long_input: 'long request',
      dialog: 'long conversation',
    },
  },
  ru: {
    endings: {
      stop: 'ответ получен полностью',
      length: 'ответ обрезан: достигнут лимит max_tokens',
      filter: 'ответ остановлен правилами провайдера',
      tool: 'модель вызвала инструмент',
      other: 'провайдер завершил ответ без объяснения',
      error: 'сбой провайдера во время ответа; списано за полученную часть',
      gone: 'клиент отключился; списано за созданную часть',
      held: 'ещё выполняется',
      released: 'не выполнен, деньги не списаны',
      expired: 'прерван из-за нашего сбоя, деньги не списаны',
      refunded: 'не выполнен, деньги возвращены',
      settled: 'выполнен',
      repeated: 'отправлен ещё раз с тем же ключом идемпотентности; списано только за повтор',
    },
    causes: {
      refused: 'провайдер отклонил запрос; повторите его или выберите другую модель',
      failed: 'сбой провайдера; повторите запрос',
      timeout: 'провайдер не ответил вовремя; повторите запрос или сократите его',
      cut: 'связь с провайдером оборвалась; повторите запрос',
      left: 'клиент отключился, не дождавшись ответа',
      lost: 'прерван из-за нашего сбоя; повторите запрос',
    },
    tiers: { lite: 'простая задача', standard: 'обычная задача', heavy: 'сложная задача' },
    signals: {
      short: 'короткий запрос',
      length: 'объём запроса',
      greeting: 'приветствие',
      translate: 'перевод',
      fix: 'исправление ошибок',
      shorten: 'сокращение',
      rewrite: 'переписывание',
      classify: 'классификация',
      extract: 'извлечение',
      convert: 'преобразование',
      lookup: 'поиск сведений',
      given_text: 'есть исходный текст',
      fact: 'вопрос о факте',
      closed: 'закрытый вопрос',
      arithmetic: 'арифметика',
      brief: 'нужен краткий ответ',
      compose: 'написание текста',
      explain: 'объяснение',
      advice: 'совет',
      wording: 'слова запроса',
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
      dialog: 'долгий разговор',
    },
  },
});

/** A charged text call has its own ending; other calls are described by their state. */
export function endingWords(language: Language, { kind, state }: Charge, { ended = 'stop', ...usage }: Usage): string {
  const { endings } = WORDS[language];
  const settledAs = usage.repeated_as !== undefined ? 'repeated' : kind === 'text' ? String(ended) : state;
  const name = state === 'settled' ? settledAs : state;
  return endings[name] ?? name;
}

/** Of a failed call; undefined if its attempts do not say. Its owner does not learn which upstreams there are. */
export function describeCause(language: Language, attempts: readonly Pick<Attempt, 'ending'>[]): string | undefined {
  const last = attempts.at(-1);
  return last && WORDS[language].causes[last.ending];
}

/** Tiers and signals that are no longer known are shown by their names. */
export function smartWords(language: Language, tier: string, signals: string): string {
  const words = WORDS[language];
  const tiers: Readonly<Record<string, string>> = words.tiers;
  const names: Readonly<Record<string, string>> = words.signals;
  const signalTexts = signals
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => names[name] ?? name);
  return `${tiers[tier] ?? tier} (${tier})${signalTexts.length > 0 ? `: ${signalTexts.join(', ')}` : ''}`;
}
