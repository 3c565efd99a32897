// A budget that records what was taken from it.
import type { ByteBudget } from '../../lib/media/image.ts';

export function createBudget(bytesMax: number) {
  const state = { taken: 0, most: 0 };
  const budget: ByteBudget = {
    takePart(bytes) {
      if (state.taken + bytes > bytesMax) return undefined;
      state.taken += bytes;
      state.most = Math.max(state.most, state.taken);
      return () => {
        state.taken -= bytes;
      };
    },
  };
  return { state, budget };
}
