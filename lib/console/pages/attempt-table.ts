// The attempts of a call at upstreams, for operators: routes, times, what each one cost, and the margin of the call.
import type { Attempt, Certainty } from '../../money/attempt.ts';
import type { Charge } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import { TOKEN_NAMES } from '../../money/token-usage.ts';
import type { RouteEnding } from '../../store/ports/usage.ts';
import { definitionList, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { Visit } from '../visit.ts';
import { netCharged } from './charge-table.ts';

interface Words {
  readonly title: string;
  readonly none: string;
  readonly columns: readonly string[];
  readonly unknown: string;
  readonly ms: (count: string) => string;
  readonly speed: (count: string) => string;
  readonly retries: string;
  readonly cost: string;
  readonly possible: string;
  readonly margin: string;
  readonly endings: Readonly<Record<RouteEnding, string>>;
  readonly certainties: Readonly<Record<Certainty, string>>;
}

const WORDS = defineWords<Words>({
  en: {
    title: 'Attempts at upstreams',
    none: 'No upstream was asked, or the call is still running.',
    columns: ['No.', 'Route', 'Key', 'Upstream ID', 'Ending', 'First fragment', 'Total time', 'Speed', 'Cost'],
    unknown: 'unknown',
    ms: (count) => `${count} ms`,
    speed: (count) => `${count} tokens/s`,
    retries: 'Retries',
    cost: 'Cost',
    possible: 'Possible further cost',
    margin: 'Margin',
    endings: {
      answered: 'answered',
      cut: 'broke off',
      left: 'client left',
      refused: 'refused',
      failed: 'failed',
      timeout: 'timed out',
      running: 'running',
      lost: 'gateway died',
      unasked: 'before an upstream was asked',
    },
    certainties: { reported: 'reported', estimated: 'estimated', possible: 'possible', none: 'no cost' },
  },
  ru: {
    title: 'Обращения к провайдерам',
    none: 'К провайдерам не обращались, или запрос ещё выполняется.',
    columns: [
      '№',
      'Маршрут',
      'Ключ',
      'ID у провайдера',
      'Результат',
      'Первый фрагмент',
      'Общее время',
      'Скорость',
      'Себестоимость',
    ],
    unknown: 'неизвестно',
    ms: (count) => `${count}\u00a0мс`,
    speed: (count) => `${count}\u00a0ток./с`,
    retries: 'Повторы',
    cost: 'Себестоимость',
    possible: 'Возможные дополнительные затраты',
    margin: 'Маржа',
    endings: {
      answered: 'ответил',
      cut: 'ответ оборвался',
      left: 'клиент отключился',
      refused: 'отказ',
      failed: 'сбой',
      timeout: 'время ожидания истекло',
      running: 'выполняется',
      lost: 'прервано сбоем шлюза',
      unasked: 'до обращения к провайдеру',
    },
    certainties: { reported: 'по данным провайдера', estimated: 'оценка', possible: 'возможно', none: 'без затрат' },
  },
});

/** The words for endings, shared with other pages. */
export function attemptWords({ language }: Pick<Visit, 'language'>) {
  return WORDS[language];
}

/** How an attempt ended, and why. */
export function describeEnding(
  visit: Pick<Visit, 'language'>,
  { ending, reason = '' }: { readonly ending: RouteEnding; readonly reason?: string },
): string {
  const name = WORDS[visit.language].endings[ending];
  return reason === '' ? name : `${name}: ${reason}`;
}

export function attemptSection(visit: Visit, charge: Charge, attempts: readonly Attempt[]): Html {
  const words = WORDS[visit.language];
  const body = attempts.length === 0 ? html`<p>${words.none}</p>` : listAttempts(visit, charge, attempts);
  return html`<h2>${words.title}</h2>
${body}`;
}

function listAttempts(visit: Visit, charge: Charge, attempts: readonly Attempt[]): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const ms = (count: number | null) => (count === null ? '' : words.ms(format.number(count)));
  const rows = attempts.map((attempt) => {
    return [
      format.number(attempt.number),
      [attempt.upstream ?? words.unknown, attempt.upstreamModel ?? attempt.model].join(': '),
      attempt.keyPlace === null ? '' : format.number(attempt.keyPlace),
      attempt.requestId === null ? '' : html`<code>${attempt.requestId}</code>`,
      describeEnding(visit, attempt),
      ms(attempt.firstMs),
      ms(attempt.totalMs),
      describeSpeed(visit, attempt) ?? '',
      describeCost(visit, attempt),
    ];
  });
  const numbers = new Set([0, 5, 6, 7, 8]);
  const columns = words.columns.map((title, at) => (numbers.has(at) ? { title, number: true } : { title }));
  const { certain, possible, isKnown } = addCosts(attempts);
  const facts: (readonly [string, string])[] = [
    [words.retries, format.number(attempts.length - 1)],
    [words.cost, isKnown ? format.rubExact(certain) : words.unknown],
    ...(possible > 0n ? [[words.possible, format.rubExact(possible)] as const] : []),
    [words.margin, isKnown ? format.rubExact(netCharged(charge) - certain) : words.unknown],
  ];
  return html`${table(words.title, columns, rows)}
${definitionList(facts)}`;
}

function describeCost({ language, format }: Visit, { cost, certainty }: Attempt): string {
  const words = WORDS[language];
  const name = words.certainties[certainty];
  if (certainty === 'none') return name;
  return `${cost ? format.rubExact(cost.costRub) : words.unknown} (${name})`;
}

/** Output tokens a second, from the first fragment on; undefined where there is no such time. */
export function describeSpeed({ language, format }: Visit, attempt: Attempt): string | undefined {
  const speed = computeSpeed(attempt);
  return speed === undefined ? undefined : WORDS[language].speed(format.number(speed));
}

function computeSpeed({ usage, firstMs, totalMs }: Attempt): number | undefined {
  if (usage === null || firstMs === null || totalMs <= firstMs) return undefined;
  const { [TOKEN_NAMES.output]: output } = JSON.parse(usage);
  return typeof output === 'number' && output > 0 ? Math.round(output / ((totalMs - firstMs) / 1000)) : undefined;
}

interface AttemptCosts {
  /** Reported and estimated. */
  readonly certain: Micro;
  readonly possible: Micro;
  /** False if the cost of an attempt that was answered is not known. */
  readonly isKnown: boolean;
}

function addCosts(attempts: readonly Attempt[]): AttemptCosts {
  const add = (wanted: (certainty: Certainty) => boolean) =>
    attempts.reduce((sum, { certainty, cost }) => (wanted(certainty) ? sum + (cost?.costRub ?? 0n) : sum), 0n);
  const isCertain = (certainty: Certainty) => certainty === 'reported' || certainty === 'estimated';
  const isKnown = attempts.every(({ certainty, cost }) => !isCertain(certainty) || cost !== null);
  return { certain: add(isCertain), possible: add((certainty) => certainty === 'possible'), isKnown };
}
