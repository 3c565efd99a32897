// Sampling parameters: models that the catalog marks `sampling` get those of the client, others none.
import { type Fault, fault } from '../../base/faults.ts';
import type { Sampling } from '../../upstream/contract/provider.ts';

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly isWhole?: boolean;
}

const PENALTY: Bounds = { least: -2, most: 2 };
const BOUNDS = {
  temperature: { least: 0, most: 2 },
  top_p: { least: 0, most: 1 },
  top_k: { least: 0, most: Number.MAX_SAFE_INTEGER, isWhole: true },
  seed: { least: Number.MIN_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER, isWhole: true },
  presence_penalty: PENALTY,
  frequency_penalty: PENALTY,
} as const satisfies Readonly<Record<string, Bounds>>;

type Field = keyof typeof BOUNDS;

/** In every dialect. */
export const SAMPLING_FIELDS = Object.keys(BOUNDS) as readonly Field[];

/** The fields of a request as the client wrote them; only those it has. */
export type SamplingWish = Readonly<Partial<Record<Field, unknown>>>;

/** Why a model cannot be told this; undefined if it can. */
export function findSamplingProblem(wish: SamplingWish): Fault | undefined {
  const field = SAMPLING_FIELDS.find((name) => wish[name] !== undefined && !isWithin(wish[name], BOUNDS[name]));
  return field && fault('invalid_field', { field, hint: `must be ${describeBounds(BOUNDS[field])}` });
}

function isWithin(value: unknown, { least, most, isWhole = false }: Bounds): boolean {
  if (typeof value !== 'number' || value < least || value > most) return false;
  return !isWhole || Number.isInteger(value);
}

function describeBounds({ least, most, isWhole = false }: Bounds): string {
  if (!isWhole) return `a number from ${least} to ${most}`;
  return least < 0 ? 'a whole number' : 'a whole number, 0 or above';
}

/** Only of a wish without problems. */
export function toSampling(wish: SamplingWish): Sampling {
  const { temperature, top_p, top_k, seed, presence_penalty, frequency_penalty } = wish as Partial<
    Record<Field, number>
  >;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(top_k !== undefined && { topK: top_k }),
    ...(seed !== undefined && { seed }),
    ...(presence_penalty !== undefined && { presencePenalty: presence_penalty }),
    ...(frequency_penalty !== undefined && { frequencyPenalty: frequency_penalty }),
  };
}
