// A plugin under check: its settings pointed at a replay, its calls run as the gateway runs them.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import Joi from 'joi';
import type { Fault } from '../../../lib/faults.ts';
import type { FinishReason, Provider, ProviderPlugin, StreamPart } from '../../../lib/plugin/contract.ts';
import { isUpstreamFault, toClientFault } from '../../../lib/plugin/fault.ts';
import { createProvider } from '../../../lib/plugin/settings.ts';
import { drive } from '../../../lib/stream/drive.ts';
import { createGuard } from '../../../lib/stream/guard.ts';
import type { FinishPart } from '../../../lib/stream/part.ts';
import { type Pacing, type Recording, type Replay, type Reply, startReplay } from '../../helpers/recordings.ts';

/** A key that can be found again wherever it should not be. */
export const API_KEY = 'sk-check-0123456789abcdef';

/** What a call came to. */
export interface Outcome {
  readonly text: string;
  readonly finish: FinishReason | undefined;
  /** The upstream's own word for the finish, if the provider passes it on. */
  readonly raw: string | undefined;
  readonly usage: { readonly input: number | null; readonly output: number | null };
  /** A kind, `truncated`, `empty`, or what was thrown that is no fault. */
  readonly fault: string | undefined;
  /** What the operator's log would show. */
  readonly detail: string;
}

/** The plugin at one replay. */
export interface Stage {
  readonly replay: Replay;
  readonly provider: Provider;
  /** Plays the reply to one call of the recording and runs the call to its end. */
  run(recording: Recording, reply?: Reply, pacing?: Pacing): Promise<Outcome>;
  /** The parts of one call, untouched. */
  parts(recording: Recording, signal: AbortSignal): AsyncIterable<readonly StreamPart[]>;
  close(): Promise<void>;
}

/** No recorded answer takes longer: what does, hangs. */
const CALL_MS = 5_000;

export async function openStage(plugin: ProviderPlugin, settings: Recording['settings']): Promise<Stage> {
  const replay = await startReplay();
  const open = createProvider({
    plugin,
    upstream: `check of ${basename(plugin.name)}`,
    settings: settingsAt(replay.origin, plugin, settings),
    log: { warn() {} },
  });
  const { provider } = open;
  const parts: Stage['parts'] = (recording, signal) => {
    assert(provider.text, 'the provider has no text');
    return provider.text({ ...recording.call, options: atOrigin(replay.origin, recording.options) }, signal);
  };
  return {
    replay,
    provider,
    parts,
    run(recording, reply = recording.reply, pacing = {}) {
      replay.play(reply, pacing);
      return observe((signal) => parts(recording, signal));
    },
    async close() {
      await open.close();
      await replay.close();
    },
  };
}

/** Runs a source as the gateway does, through the guard, to its end. */
export async function observe(
  start: (signal: AbortSignal) => AsyncIterable<readonly StreamPart[]>,
  signal: AbortSignal = AbortSignal.timeout(CALL_MS),
): Promise<Outcome> {
  const guard = createGuard();
  const seen: StreamPart[] = [];
  try {
    await drive(start(signal), signal, (parts) => void seen.push(...guard.push(parts)));
    seen.push(...guard.end());
  } catch (error) {
    assert(!signal.aborted, `the call hangs: no end after ${CALL_MS} ms`);
    seen.push(...guard.fail(toClientFault(error)));
  }
  return summarise(seen);
}

function summarise(parts: readonly StreamPart[]): Outcome {
  let text = '';
  let finish: FinishPart | undefined;
  let input: number | null = null;
  let output: number | null = null;
  let fault: Fault | undefined;
  for (const part of parts) {
    if (part.type === 'block-delta') text += part.text;
    else if (part.type === 'finish') finish = part;
    else if (part.type === 'error') fault = part.fault;
    else if (part.type === 'usage') {
      input = part.input ?? input;
      output = part.output ?? output;
    }
  }
  const detail = fault?.cause instanceof Error ? fault.cause.message : '';
  return {
    text,
    finish: finish?.reason,
    raw: finish?.raw,
    usage: { input, output },
    fault: fault && nameFault(fault),
    detail,
  };
}

function nameFault(fault: Fault): string {
  if (fault.data?.code === 'upstream_truncated') return 'truncated';
  if (fault.data?.code === 'upstream_empty') return 'empty';
  if (isUpstreamFault(fault.cause)) return fault.cause.kind;
  return `something else than a fault was thrown: ${fault.cause}`;
}

/** Valid settings whose every URL leads to the origin: the recording's, else the plugin's defaults. */
export function settingsAt(
  origin: string,
  plugin: ProviderPlugin,
  settings: Recording['settings'],
): Record<string, unknown> {
  const known = describeSettings(plugin);
  const complete: Record<string, unknown> = 'apiKey' in known ? { apiKey: API_KEY, ...settings } : { ...settings };
  for (const [name, { flags }] of Object.entries(known)) {
    if (!name.endsWith('Url') || name in complete) continue;
    const byDefault = (flags as { default?: unknown } | undefined)?.default;
    complete[name] = typeof byDefault === 'string' ? byDefault : origin;
  }
  return atOrigin(origin, complete);
}

/** Moves every URL to the origin; paths and queries stay. */
function atOrigin(origin: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const moved = Object.entries(values).map(([name, value]) => {
    const url = name.endsWith('Url') && typeof value === 'string' ? URL.parse(value) : null;
    return [name, url ? origin + String(value).slice(url.origin.length) : value] as const;
  });
  return Object.fromEntries(moved);
}

export function describeSettings(plugin: ProviderPlugin): Readonly<Record<string, Joi.Description>> {
  return plugin.settings(Joi).describe().keys ?? {};
}

/** Whether the plugin talks to an upstream: one of its settings is a URL. */
export function usesNetwork(plugin: ProviderPlugin): boolean {
  return Object.keys(describeSettings(plugin)).some((name) => name.endsWith('Url'));
}
