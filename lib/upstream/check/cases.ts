// Checks of what upstreams do rarely, played as answers that are derived from the recorded ones where their wire
// format is one that the gateway knows. A case that cannot be derived is covered by a recording that names it, or said
// not to be checked.
import assert from 'node:assert/strict';
import type { Buffer } from 'node:buffer';
import type { Provider } from '../contract/provider.ts';
import { aborted } from './abort.ts';
import { isUnknownFraming, UNKNOWN_FRAMING } from './event-ends.ts';
import type { TextOutcome } from './outcome.ts';
import type { CaseName, Recording, TextRecording } from './recording.ts';
import { onStage, type TestBench } from './stage.ts';
import { findGap, isStream } from './stream.ts';
import type { Check, Subject } from './subject.ts';
import {
  countZeroLater,
  type Derivation,
  detectFormat,
  dropDeltas,
  interleaveCalls,
  repeatArguments,
  type WireFormat,
} from './wire.ts';

const GROUP = 'cases';

interface Case {
  readonly name: string;
  /** What a recording says that shows it. */
  readonly label: CaseName;
  /** False where no upstream of the plugin does it. */
  readonly concerns?: (provider: Provider) => boolean;
  /** The known formats that can have it; by default all. */
  readonly formats?: readonly WireFormat[];
  /** True for a recording that shows it without saying so. */
  readonly shows?: (recording: TextRecording) => boolean;
  /** The recorded answer as the case has it. */
  readonly derive?: (recording: TextRecording) => Buffer | undefined;
  /** Compares what became of it with what was recorded. */
  readonly compare?: (outcome: TextOutcome, recording: TextRecording) => void;
}

const takesTools = ({ tools }: Provider) => tools === true;

const CASES: readonly Case[] = [
  {
    name: 'reasoning comes with the state that goes back',
    label: 'reasoning',
    shows: ({ expect }) => (expect.state?.length ?? 0) > 0 || expect.tools?.some(({ state }) => state) === true,
  },
  {
    name: 'calls are told apart when their pieces come in turn',
    label: 'interleaved',
    concerns: takesTools,
    derive: deriveFrom((format) => interleaveCalls[format]),
    compare: ({ tools }, { expect }) => {
      const show = (calls: readonly { readonly name: string; readonly json: string }[]) =>
        calls.map(({ name, json }) => `${name} ${json || '{}'}`).sort();
      const { tools: recorded = [] } = expect;
      assert.deepEqual(show(tools), show([...recorded, ...recorded]), 'other calls than were sent');
    },
  },
  {
    name: 'a call that says its arguments again has them once',
    label: 'repeated',
    concerns: takesTools,
    derive: (recording) => {
      const { tools = [], finish } = recording.expect;
      const [call] = tools;
      // The arguments of a call cut at the limit are not all of them.
      if (!call || tools.length > 1 || finish !== 'tool') return undefined;
      return deriveFrom((format) => repeatArguments(format, call.json))(recording);
    },
    compare: ({ tools }, { expect }) => {
      assert.deepEqual(
        tools.map(({ name, json }) => ({ name, json })),
        expect.tools?.map(({ name, json }) => ({ name, json })),
        'other arguments than were sent',
      );
    },
  },
  {
    name: 'a later count of zero replaces an earlier one',
    label: 'zeros',
    formats: ['chat', 'messages'],
    derive: (recording) => {
      const { usage } = recording.expect;
      const isPlain = usage && Object.keys(usage).length === 2 && usage.input !== null && usage.output !== null;
      return isPlain ? deriveFrom((format) => countZeroLater[format])(recording) : undefined;
    },
    compare: ({ usage }, { expect }) => assert.deepEqual(usage, expect.usage, 'other counts than the last ones'),
  },
  {
    name: 'what is only said as done, without its pieces, is there',
    label: 'done',
    formats: ['responses'],
    derive: deriveFrom((format) => dropDeltas[format]),
    compare: (outcome, { expect }) => {
      if (expect.text !== undefined) assert.equal(outcome.text, expect.text);
      if (expect.reasoning !== undefined) assert.equal(outcome.reasoning, expect.reasoning);
      assert.deepEqual(
        outcome.tools.map(({ name, json }) => ({ name, json })),
        (expect.tools ?? []).map(({ name, json }) => ({ name, json })),
      );
    },
  },
];

/** The checks of a provider of text. */
export function caseChecks(subject: Subject, provider: Provider): readonly Check[] {
  const recordings = subject.recordings.filter(isTextRecording);
  const played = CASES.filter(({ concerns }) => concerns?.(provider) !== false).flatMap((one) =>
    checkCase(subject, recordings, one),
  );
  return takesTools(provider) ? [...played, abortCheck(subject, recordings)] : played;
}

function isTextRecording(recording: Recording): recording is TextRecording {
  return recording.kind === 'text';
}

function checkCase({ plugin, nevers }: Subject, recordings: readonly TextRecording[], one: Case): readonly Check[] {
  const { name, label, formats, shows, derive, compare } = one;
  if (nevers.some((never) => never.kind === 'text' && never.case === label)) return [];
  const format = recordings.map(({ reply }) => detectFormat(reply.body)).find((found) => found !== undefined);
  if (format && formats?.includes(format) === false) return [];
  for (const recording of recordings.filter(isWhole)) {
    const body = derive?.(recording);
    if (!body) continue;
    const run = () =>
      onStage(plugin, recording.settings, async (stage) => {
        const filled = stage.fill(recording);
        const outcome = (await stage.run(filled, { reply: { ...filled.reply, body } })) as TextOutcome;
        assert.equal(outcome.fault, undefined, `a fault: ${outcome.detail}`);
        assert.equal(outcome.finish, recording.expect.finish, 'another finish');
        compare?.(outcome, recording);
      });
    return [{ group: GROUP, name, run }];
  }
  // The recording itself is checked against what it expects.
  if (recordings.some((recording) => recording.case === label || shows?.(recording))) return [];
  const why = derive
    ? 'the recordings have nothing that it could be derived from, or are in a format of their own'
    : 'no recording shows it';
  return [{ group: GROUP, name, run: async () => {}, unchecked: `${why}; record one with \`"case": "${label}"\`` }];
}

/** A stream that came to its end. */
function isWhole(recording: TextRecording): boolean {
  const { reply, expect } = recording;
  return reply.status === 200 && reply.end !== 'reset' && expect.finish !== undefined && isStream(recording);
}

/** Derives in the format of the recording, if that is known and can have the case. */
function deriveFrom(choose: (format: WireFormat) => Derivation | undefined) {
  return ({ reply }: TextRecording): Buffer | undefined => {
    const format = detectFormat(reply.body);
    return format && choose(format)?.(reply.body);
  };
}

/** The upstream falls silent within a call. */
function abortCheck({ plugin }: Subject, recordings: readonly TextRecording[]): Check {
  const name = 'an abort within a call of a tool closes the connection';
  const recording = recordings.find((each) => isWhole(each) && (each.expect.tools?.length ?? 0) > 0);
  if (!recording) {
    const isUnknown = recordings.some(({ reply, expect }) => expect.tools && isUnknownFraming(reply));
    const unchecked = isUnknown ? UNKNOWN_FRAMING : 'no recording streams a call of a tool';
    return { group: GROUP, name, run: async () => {}, unchecked };
  }
  const run = () =>
    onStage(plugin, recording.settings, async (stage: TestBench) => {
      const own = stage.fill(recording);
      const length = await findGap(stage, own, ({ tools }) => tools.length > 0);
      stage.replay.play({ before: own.before, reply: own.reply, pacing: { hold: 'end', length } });
      await aborted(stage, (signal) => stage.raw(own, signal));
    });
  return { group: GROUP, name, run };
}
