// The parts of a plain answer, for tests of the guard.
import type { ProviderPart } from '../../lib/stream/part.ts';

export const START: ProviderPart = { type: 'start', id: 'up', model: 'm' };
export const OPEN: ProviderPart = { type: 'block-start', index: 0, block: { type: 'text' } };
export const delta = (text: string, index = 0): ProviderPart => ({ type: 'block-delta', index, text });
export const CLOSE: ProviderPart = { type: 'block-end', index: 0 };
export const FINISH: ProviderPart = { type: 'finish', reason: 'stop' };
export const usage = (output: number): ProviderPart => ({ type: 'usage', output });
