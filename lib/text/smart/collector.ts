// Collects the signals of a message, and which of them belong together.
import type { SignalName } from './names.ts';

/** Collects signals; a signal found twice keeps its greater strength. */
export class Collector {
  readonly found = new Map<SignalName, number>();

  add(name: SignalName, strength = 1): void {
    const bounded = Math.min(1, strength);
    if (bounded > this.strengthOf(name)) this.found.set(name, bounded);
  }

  has(...names: readonly SignalName[]): boolean {
    return names.some((name) => this.found.has(name));
  }

  /** 0 when it was not found. */
  strengthOf(name: SignalName): number {
    return this.found.get(name) ?? 0;
  }

  drop(...names: readonly SignalName[]): void {
    for (const name of names) this.found.delete(name);
  }

  weaken(name: SignalName, factor: number): void {
    const strength = this.found.get(name);
    if (strength !== undefined) this.found.set(name, strength * factor);
  }
}

/** Work on a given text: cheap, whatever the text says. */
export const MECHANICAL_SIGNALS = [
  'translate',
  'fix',
  'shorten',
  'rewrite',
  'summarize',
  'classify',
  'extract',
  'convert',
  'lookup',
  'given_text',
] as const satisfies readonly SignalName[];

/** Work that makes something of its own. */
export const WORK_SIGNALS = [
  'compose',
  'ideas',
  'explain',
  'advice',
  'plan',
  'roleplay',
  'compare',
  'code',
  'debug',
  'review',
  'proof',
  'analysis',
  'strategy',
  'design',
  'long_form',
] as const satisfies readonly SignalName[];
