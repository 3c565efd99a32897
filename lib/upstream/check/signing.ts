// Checks of headers that are made from the key, such as signatures: whether one is, and what it depends on.
import assert from 'node:assert/strict';
import { DAY_MS } from '../../base/durations.ts';
import type { HostClock } from '../contract/provider.ts';
import type { Recording } from './recording.ts';
import type { ReceivedRequest } from './replay.ts';
import { API_KEY, FIXED_CLOCK, openStage, type TestBench } from './stage.ts';
import { ordinary, type Subject } from './subject.ts';

type Headers = ReceivedRequest['headers'];

/** Another day, in signatures that only have the date, too. */
const LATER_MS = 40 * DAY_MS;
const LATER_CLOCK: HostClock = { ...FIXED_CLOCK, now: () => FIXED_CLOCK.now() + LATER_MS };

/** A token of its own, which is signed but signs no request. */
const JWT = /\beyJ[\w-]+\.[\w-]+\./;

interface Asked {
  readonly key?: string;
  readonly clock?: HostClock;
  readonly call?: Recording['call'];
}

/** Whether a header is made from the key: it changes with the key, and stays the same otherwise. */
export async function dependsOnKey(subject: Subject, kind: Recording['kind']): Promise<boolean> {
  return onSigningStage(subject, kind, async (ask, key) => {
    const [one, again, changed] = [await ask({}), await ask({}), await ask({ key: `${key}0` })];
    return one.some((_, at) => findChanged(one, again, changed, at).length > 0);
  });
}

/**
 * A signature with the time in it is one of the request, and changes with the body too. The time is that of `host.clock`.
 */
export async function checkSignature(subject: Subject, kind: Recording['kind']): Promise<void> {
  const isUnsigned = subject.nevers.some((never) => never.kind === kind && never.case === 'signed-body');
  await onSigningStage(subject, kind, async (ask, key) => {
    const [one, again] = [await ask({}), await ask({})];
    const shifted = await withShiftedDate(() => ask({}));
    for (const at of one.keys()) {
      const [name] = findChanged(one, again, shifted, at);
      assert(name === undefined, `the header ${name} has the time of \`Date\`: it is that of \`host.clock\``);
    }
    const [keyed, later] = [await ask({ key: `${key}0` }), await ask({ clock: LATER_CLOCK })];
    const other = await ask({ call: changeBody(ordinary(subject, kind)) });
    for (const at of one.keys()) {
      const timed = findChanged(one, again, later, at);
      const signatures = findChanged(one, again, keyed, at).filter(
        (name) => timed.includes(name) && !JWT.test(String(one[at]?.[name])),
      );
      const signsBody =
        signatures.length === 0 || findChanged(one, again, other, at).some((name) => signatures.includes(name));
      assert(signsBody || isUnsigned, `the signature in ${signatures[0]} is the same for another body`);
    }
  });
}

/** One address for all, because signatures have it in them. */
async function onSigningStage<T>(
  { plugin, ...subject }: Subject,
  kind: Recording['kind'],
  play: (ask: (asked: Asked) => Promise<readonly Headers[]>, key: string) => Promise<T>,
): Promise<T> {
  const recording = ordinary({ plugin, ...subject }, kind);
  const { apiKey: mine, ...settings } = recording.settings;
  const key = typeof mine === 'string' ? mine : API_KEY;
  const first = await openStage(plugin, settings, { key, clock: FIXED_CLOCK });
  const others: TestBench[] = [];
  const { replay } = first;
  try {
    return await play(async ({ key: own = key, clock = FIXED_CLOCK, call = recording.call }) => {
      const stage = await openStage(plugin, settings, { key: own, clock, replay });
      others.push(stage);
      await stage.run({ ...recording, call } as Recording);
      return replay.requests.map(({ headers }) => headers);
    }, key);
  } finally {
    for (const stage of others) await stage.close();
    await first.close();
  }
}

/** The headers of a request that are steady, but changed by what else was asked. */
function findChanged(
  one: readonly Headers[],
  again: readonly Headers[],
  changed: readonly Headers[],
  at: number,
): readonly string[] {
  const headers = one[at] ?? {};
  return Object.keys(headers).filter(
    (name) => name !== 'host' && headers[name] === again[at]?.[name] && headers[name] !== changed[at]?.[name],
  );
}

function changeBody(recording: Recording): Recording['call'] {
  if (recording.kind === 'text') return { ...recording.call, maxTokens: 217 };
  if (recording.kind === 'embed') return { ...recording.call, inputs: recording.call.inputs.map((text) => `${text}!`) };
  return { ...recording.call, prompt: `${recording.call.prompt}!` } as Recording['call'];
}

/** `Date` as it will be then. */
async function withShiftedDate<T>(work: () => Promise<T>): Promise<T> {
  const Real = globalThis.Date;
  class ShiftedDate extends Real {
    constructor(...given: [] | [number]) {
      super(...((given.length === 0 ? [Real.now() + LATER_MS] : given) as [number]));
    }
    static override now(): number {
      return Real.now() + LATER_MS;
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
  try {
    return await work();
  } finally {
    globalThis.Date = Real;
  }
}
