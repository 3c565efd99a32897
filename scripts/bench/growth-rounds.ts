// Figures of stores of several sizes, taken in alternating rounds: what other work on the machine slows down, it slows
// down for every size, so that only the ratios within a round say what grows.
import { median } from './compare.ts';

export interface Figures {
  /** One figure of one size; several of a name are those of consecutive rounds. */
  note(size: number, name: string, value: number): void;
  print(): void;
}

/** Nothing on a call's path may differ by more than this between the first size and the last. */
const GROWTH_MAX = 1.1;
/** Figures that are better when larger. */
const RATES: ReadonlySet<string> = new Set(['pairs a second']);
/** On the path of a call, or of `GET /balance`. */
const ON_THE_PATH: ReadonlySet<string> = new Set([
  ...['pairs a second', 'pair p99, ms', 'CPU of a pair, µs', 'its share of the store thread, µs'],
  ...['CPU of a pair in mongod, µs', 'first call p50, ms', 'first call CPU, µs', 'GET /balance p50, ms'],
  'GET /balance CPU, µs',
]);

export function createFigures(kind: string, sizes: readonly number[]): Figures {
  const all = new Map<string, Map<number, number[]>>();

  function print(): void {
    console.log(`\n${kind.padEnd(36)}${sizes.map((size) => `${size}`.padStart(20)).join('')}   last/first (rounds)`);
    for (const [name, bySize] of all) {
      const rounds = sizes.map((size) => bySize.get(size) ?? []);
      console.log(`${name.padEnd(36)}${rounds.map(column).join('')}${formatRatio(name, rounds)}`);
    }
    console.log();
  }

  return {
    note(size, name, value) {
      const bySize = all.get(name) ?? new Map<number, number[]>();
      bySize.set(size, [...(bySize.get(size) ?? []), value]);
      all.set(name, bySize);
    },
    print,
  };
}

/** The median, and the lowest and highest round. */
function column(list: readonly number[]): string {
  const digits = median(list) < 100 ? 2 : 0;
  const text = (value: number) => value.toFixed(digits);
  const spread = list.length > 1 ? ` ${text(Math.min(...list))}–${text(Math.max(...list))}` : '';
  return `${text(median(list))}${spread}`.padStart(20);
}

function formatRatio(name: string, rounds: readonly (readonly number[])[]): string {
  const [first = [], last = []] = [rounds[0], rounds.at(-1)];
  const ratios = last.map((value, round) => value / (first[round] ?? Number.NaN));
  const worse = ratios.map((ratio) => (RATES.has(name) ? 1 / ratio : ratio));
  const grows = ON_THE_PATH.has(name) && median(worse) > GROWTH_MAX;
  // A figure that is as good in some round as at the first size may only have met other work.
  const verdict = grows ? (Math.min(...worse) > 1 ? '  GROWS' : '  grows, or noise') : '';
  const spread = ratios.length > 1 ? ` (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})` : '';
  return `${median(ratios).toFixed(2).padStart(9)}${spread}${verdict}`;
}
