// A plugin under check: its settings pointed at a replay, its calls run as the gateway runs them.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { setTimeout as pause } from 'node:timers/promises';
import type Joi from 'joi';
import type { HostClock, Provider, ProviderPart, ProviderPlugin } from '../contract/provider.ts';
import { describeSchema } from '../host/account-settings.ts';
import { createProvider, type OpenProvider, readSchema } from '../host/settings.ts';
import { changeFrames } from './event-ends.ts';
import { ORIGIN, type Outcome, observeEmbed, observeImage, observeStart, observeText, type Place } from './outcome.ts';
import { watchOutput } from './output-watch.ts';
import type { Recording, Reply, TextRecording } from './recording.ts';
import { type Pacing, type Replay, startReplay } from './replay.ts';
import type { Check, Subject } from './subject.ts';

/** Nothing listens there, and nothing needs to: creating a provider does no I/O. */
export const UNUSED_URL = 'http://127.0.0.1:9';

/** A key that is easy to find wherever it should not be. */
export const API_KEY = 'sk-check-0123456789abcdef';

/** The plugin at one replay. */
export interface TestBench {
  readonly replay: Replay;
  readonly provider: Provider;
  readonly place: Place;
  /** The recording with the address of the replay where it says `{{origin}}`. */
  fill<T extends Recording>(recording: T): T;
  /** Plays the recording to one call and runs it to its end; for a video, its start. */
  run(recording: Recording, change?: { readonly reply?: Reply; readonly pacing?: Pacing }): Promise<Outcome>;
  /** Runs one call to its end, whatever is played. */
  call(recording: Recording, signal?: AbortSignal): Promise<Outcome>;
  /** Runs one call until the provider itself ends it. */
  raw(recording: Recording, signal: AbortSignal): Promise<unknown>;
  /** The parts of one call, untouched. */
  parts(recording: TextRecording, signal: AbortSignal): AsyncIterable<readonly ProviderPart[]>;
  /** Another provider, as another process would create it. */
  again(): Provider;
  close(): Promise<void>;
}

interface StageOptions {
  readonly key?: string;
  /** Another stage's, to be asked at the same address; its stage closes it. */
  readonly replay?: Replay;
  readonly clock?: HostClock;
}

export async function openStage(
  plugin: ProviderPlugin,
  settings: Recording['settings'],
  { key = API_KEY, replay: shared, clock = IMMEDIATE_CLOCK }: StageOptions = {},
): Promise<TestBench> {
  const replay = shared ?? (await startReplay());
  const { origin } = replay;
  const place = { origin, key: typeof settings.apiKey === 'string' ? settings.apiKey : key };
  const opened: OpenProvider[] = [];
  const watch = watchOutput(plugin, () => [place.key, ...opened.flatMap(({ secrets }) => secrets)]);
  const make = () => {
    const at = settingsAt(origin, plugin, settings, key);
    const upstream = `check of ${plugin.name}`;
    opened.push(createProvider({ plugin, upstream, settings: at, log: watch.log, clock }));
    return (opened.at(-1) as OpenProvider).provider;
  };
  let provider: Provider;
  try {
    provider = make();
  } catch (error) {
    watch.end();
    await replay.close();
    throw error;
  }
  const stage: TestBench = {
    replay,
    provider,
    place,
    again: make,
    fill: (recording) => fillIn(recording, origin),
    parts: (recording, signal) => {
      assert(provider.text, 'the provider has no text');
      return provider.text({ ...recording.call, options: atOrigin(origin, recording.options) }, signal);
    },
    call: (recording, signal) => call(stage, recording, signal),
    raw: (recording, signal) => raw(stage, recording, signal),
    run(recording, { reply, pacing = {} } = {}) {
      const { before, ...filled } = fillIn(recording, origin);
      replay.play({ before, reply: reply ?? filled.reply, pacing });
      return stage.call(recording);
    },
    async close() {
      for (const open of opened) await open.close();
      if (!shared) await replay.close();
      watch.end();
    },
  };
  return stage;
}

function call(stage: TestBench, recording: Recording, signal?: AbortSignal): Promise<Outcome> {
  const { provider, place } = stage;
  const options = atOrigin(place.origin, recording.options);
  switch (recording.kind) {
    case 'text':
      return observeText((own) => stage.parts(recording, own), signal, recording.call.tools !== undefined);
    case 'embed': {
      const embed = provider.embed?.bind(provider);
      assert(embed, 'the provider has no embed');
      return observeEmbed((own) => embed({ ...recording.call, options }, own), recording.call, signal);
    }
    case 'image': {
      const image = provider.image?.bind(provider);
      assert(image, 'the provider has no image');
      return observeImage((own) => image({ ...recording.call, options }, own), place, signal);
    }
    case 'video': {
      const { video } = provider;
      assert(video, 'the provider has no video');
      return observeStart((own) => video.start({ ...recording.call, options }, own), place, signal);
    }
  }
}

async function raw(stage: TestBench, recording: Recording, signal: AbortSignal): Promise<unknown> {
  const { provider, place } = stage;
  const options = atOrigin(place.origin, recording.options);
  if (recording.kind === 'embed') return provider.embed?.({ ...recording.call, options }, signal);
  if (recording.kind === 'image') return provider.image?.({ ...recording.call, options }, signal);
  if (recording.kind === 'video') return provider.video?.start({ ...recording.call, options }, signal);
  for await (const parts of stage.parts(recording, signal)) {
    assert(Array.isArray(parts));
    const isEnded = signal.aborted && parts.some(({ type }) => type === 'finish');
    if (isEnded) return parts;
  }
  return undefined;
}

/** Opens a stage, lets a check play on it, and closes it. */
export async function onStage<T>(
  plugin: ProviderPlugin,
  settings: Recording['settings'],
  play: (stage: TestBench) => Promise<T>,
  options?: StageOptions,
): Promise<T> {
  const stage = await openStage(plugin, settings, options);
  try {
    return await play(stage);
  } finally {
    await stage.close();
  }
}

/** The name of a check, and what it plays with its recording. */
export type Play<Own extends Recording = Recording> = readonly [
  name: string,
  play: (stage: TestBench, own: Own) => Promise<void>,
];

/** Checks that play a recording, each on a stage of its own. */
export function listPlayChecks<Own extends Recording>(
  group: string,
  { plugin }: Subject,
  recording: Own,
  plays: readonly Play<Own>[],
): readonly Check[] {
  return plays.map(([name, play]) => ({
    group,
    name,
    run: () => onStage(plugin, recording.settings, (stage) => play(stage, stage.fill(recording))),
  }));
}

/** Elsewhere polling waits for seconds. */
const IMMEDIATE_CLOCK: HostClock = {
  now: Date.now,
  async sleep(_ms, signal) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  },
};

const PACE_MS = 10;

/** For jobs that are polled in vain, which would keep the processor busy. */
export const PACED_CLOCK: HostClock = {
  now: Date.now,
  async sleep(_ms, signal) {
    await pause(PACE_MS);
    signal.throwIfAborted();
  },
};

/** The time of every request is the same. */
export const FIXED_CLOCK: HostClock = { ...IMMEDIATE_CLOCK, now: () => Date.UTC(2026, 0, 1) };

function fillIn<T extends Recording>(recording: T, origin: string): T {
  const named = <V>(value: V): V => JSON.parse(JSON.stringify(value).replaceAll(ORIGIN, origin));
  const filled = (reply: Reply): Reply => {
    if (reply.body?.includes(ORIGIN) !== true) return reply;
    if (reply.frames) return changeFrames(reply, named);
    return { ...reply, body: Buffer.from(reply.body.toString('utf8').replaceAll(ORIGIN, origin)) };
  };
  const video = recording.kind === 'video' && {
    polls: recording.polls.map((replies) => replies.map(filled)),
    ...(recording.ref && { ref: named(recording.ref) }),
    expect: { ...recording.expect, ...(recording.expect.ref && { ref: named(recording.expect.ref) }) },
  };
  return { ...recording, before: recording.before.map(filled), reply: filled(recording.reply), ...video };
}

/** Valid settings with every URL pointed at the origin: the recording's, or the plugin's defaults. */
export function settingsAt(
  origin: string,
  plugin: ProviderPlugin,
  settings: Recording['settings'],
  key: string = API_KEY,
): Record<string, unknown> {
  const known = describeSettings(plugin);
  const complete: Record<string, unknown> = 'apiKey' in known ? { apiKey: key, ...settings } : { ...settings };
  for (const [name, { flags }] of Object.entries(known)) {
    if (!name.endsWith('Url') || name in complete) continue;
    const byDefault = (flags as { default?: unknown } | undefined)?.default;
    complete[name] = typeof byDefault === 'string' ? byDefault : origin;
  }
  return atOrigin(origin, complete);
}

/** Points every URL at the origin; paths and queries stay. */
function atOrigin(origin: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const moved = Object.entries(values).map(([name, value]) => {
    const url = name.endsWith('Url') && typeof value === 'string' ? URL.parse(value) : null;
    return [name, url ? origin + String(value).slice(url.origin.length) : value] as const;
  });
  return Object.fromEntries(moved);
}

export function describeSettings(plugin: ProviderPlugin): Readonly<Record<string, Joi.Description>> {
  return describeSchema(readSchema(plugin)).keys ?? {};
}

/** Whether the plugin talks to an upstream: one of its settings is a URL. */
export function usesNetwork(plugin: ProviderPlugin): boolean {
  return Object.keys(describeSettings(plugin)).some((name) => name.endsWith('Url'));
}
