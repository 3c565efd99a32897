// Random numbers repeatable from a seed (mulberry32).

export interface Random {
  /** From `least` up to, but not including, `most`. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    between: (least, most) => least + next() * (most - least),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
  };
}
