// What a check of an installation says.
import { joinLines } from '../../base/one-line.ts';

export interface Finding {
  /** What was looked at: `disk`, `upstream main`. */
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed';
  /** What was found, in one line. */
  readonly detail: string;
  /** What to do; absent if it is fine. */
  readonly advice?: string;
}

export const ok = (name: string, detail: string): Finding => ({ name, state: 'ok', detail });

export const warning = (name: string, detail: string, advice: string): Finding => ({
  name,
  state: 'warning',
  detail,
  advice,
});

export const failed = (name: string, detail: string, advice: string): Finding => ({
  name,
  state: 'failed',
  detail,
  advice,
});

/** One line, whatever was thrown. */
export function describeError(error: unknown): string {
  const { message, code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return joinLines(message || code || String(error));
}
