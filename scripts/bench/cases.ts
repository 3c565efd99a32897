// The loads of the benchmark: what is requested, at which concurrency, and what the cost is divided by.

export interface Case {
  readonly name: string;
  /** Determines the upstream's answer; see `upstream.ts`. */
  readonly model: string;
  readonly stream: boolean;
  readonly calls: number;
  readonly atOnce: number;
  /** What the cost is divided by, besides calls. */
  readonly events?: number;
  readonly leaveAfterBytes?: number;
}

/** The loads that have goals. */
const GOALS: readonly Case[] = [
  { name: 'call, 100 tokens', model: 'burst-100', stream: false, calls: 4000, atOnce: 64 },
  { name: 'stream of 20 fragments', model: 'stream-20', stream: true, calls: 2000, atOnce: 64 },
  { name: 'burst of 500 fragments', model: 'burst-500', stream: true, calls: 600, atOnce: 32, events: 500 },
  { name: 'paced, 200 streams', model: 'paced-150', stream: true, calls: 200, atOnce: 200, events: 150 },
];

/** Other concurrencies, shorter answers, and clients that leave. */
const OTHERS: readonly Case[] = [
  { name: 'call of 8 words, 32 at once', model: 'call', stream: false, calls: 3000, atOnce: 32 },
  { name: 'stream of 20, 32 at once', model: 'stream-20', stream: true, calls: 1500, atOnce: 32 },
  { name: 'burst of 500, 8 at once', model: 'burst-500', stream: true, calls: 200, atOnce: 8, events: 500 },
  { name: 'a chunk for each of 500', model: 'flurry-500', stream: true, calls: 200, atOnce: 32, events: 500 },
  { name: 'paced, 50 fragments each', model: 'paced-50', stream: true, calls: 200, atOnce: 200, events: 50 },
  { name: 'disconnect after the first', model: 'idle', stream: true, calls: 600, atOnce: 32, leaveAfterBytes: 1 },
];

/** All their calls use one wallet, like the calls of all cases. */
export const ONE_WALLET: Case = {
  name: '300 at once, one wallet',
  model: 'call',
  stream: false,
  calls: 6000,
  atOnce: 300,
};

const QUICK = 0.3;

/** Those whose model or name starts like this, `goals`, or `loads` for all; all by default. */
export function chooseCases({ only = 'loads', quick }: { only: string | undefined; quick: boolean }): readonly Case[] {
  const all = [...GOALS, ...OTHERS];
  const groups: Readonly<Record<string, readonly Case[]>> = { loads: all, goals: GOALS };
  const wanted = groups[only] ?? all.filter(({ model, name }) => model.startsWith(only) || name.startsWith(only));
  return wanted.map((test) => (quick ? shortened(test) : test));
}

/** Paced streams take the same time however many there are. */
export function shortened(test: Case): Case {
  return test.model.startsWith('paced') ? test : { ...test, calls: Math.ceil(test.calls * QUICK) };
}

/** Every model name that is requested from the upstream. */
export const MODELS: readonly string[] = [...new Set([...GOALS, ...OTHERS].map(({ model }) => model))];
