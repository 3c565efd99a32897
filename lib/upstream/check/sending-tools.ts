// Checks that a provider with tools sends what it is given of them: the definitions, and the history of a tool loop.
import assert from 'node:assert/strict';
import type { Content, TextMessage, Tools } from '../contract/provider.ts';
import type { TextRecording } from './recording.ts';
import { collectSent } from './sending.ts';
import { listPlayChecks, type Play, type TestBench } from './stage.ts';
import { type Check, ordinary, type Subject } from './subject.ts';

const PLAYS: readonly Play<TextRecording>[] = [
  ['sends the tools', sendsTools],
  ['says which call a result belongs to', sendsPairs],
  ['sends a call whose arguments are no JSON', sendsBrokenArguments],
  ['says that a tool has failed', sendsFailure],
];
/** Unless the upstream has no such option. */
const CHOOSING: Play<TextRecording> = ['sends which tool has to be called', sendsChoice];

export function toolSendingChecks(subject: Subject): readonly Check[] {
  const neverChooses = subject.nevers.some((never) => never.kind === 'text' && never.case === 'choice');
  const plays = neverChooses ? PLAYS : [...PLAYS, CHOOSING];
  return listPlayChecks('asking for text', subject, ordinary(subject, 'text'), plays);
}

const NAME = 'measure_depth';
const OTHER_NAME = 'measure_tide';
const DESCRIPTION = 'Says how deep the water is.';
const ARGUMENT = 'harbour_name';

const TOOLS: Tools = {
  list: [
    {
      name: NAME,
      description: DESCRIPTION,
      schema: { type: 'object', properties: { [ARGUMENT]: { type: 'string' } }, required: [ARGUMENT] },
    },
  ],
};

async function sendsTools(stage: TestBench, recording: TextRecording): Promise<void> {
  const sent = await collectSent(stage, recording, { tools: TOOLS });
  const parts = { 'the name': NAME, 'the description': DESCRIPTION, 'the schema': ARGUMENT };
  for (const [what, text] of Object.entries(parts)) assert(sent.includes(text), `${what} of a tool is not sent`);
}

/** The results of two calls of one tool, and the same results the other way round. */
async function sendsPairs(stage: TestBench, recording: TextRecording): Promise<void> {
  const calls = ['call_1', 'call_2'].map((id): Content => createCall(id, `{"${ARGUMENT}":"Oslo"}`));
  const send = (ids: readonly [string, string]) =>
    collectSent(stage, recording, {
      tools: TOOLS,
      messages: continueAfter(recording, calls, [createResult(ids[0], '3 m'), createResult(ids[1], '9 m')]),
    });
  const [one, other] = [await send(['call_1', 'call_2']), await send(['call_2', 'call_1'])];
  assert.notEqual(one, other, 'of two calls of a tool, nothing says which one a result belongs to');
  // An upstream without ids goes by the order.
  const mentions = one.split('call_1').length - 1;
  assert(mentions !== 1, 'the id of a call is sent with its result only, or with the call only');
}

/** What a model wrote may break off anywhere. */
async function sendsBrokenArguments(stage: TestBench, recording: TextRecording): Promise<void> {
  const messages = continueAfter(recording, [createCall('call_1', `{"${ARGUMENT}":`)], [createResult('call_1', '3 m')]);
  const sent = await collectSent(stage, recording, { tools: TOOLS, messages });
  assert(
    sent.includes('3 m'),
    'a history with such a call is not sent: `host.argumentsOf` makes an object of anything',
  );
}

/** An upstream without a field for it has words in the result. */
async function sendsFailure(stage: TestBench, recording: TextRecording): Promise<void> {
  const calls = [createCall('call_1', `{"${ARGUMENT}":"Oslo"}`)];
  const send = (isError: boolean) => {
    const result = { ...createResult('call_1', 'no such harbour'), isError } as Content;
    return collectSent(stage, recording, { tools: TOOLS, messages: continueAfter(recording, calls, [result]) });
  };
  assert.notEqual(await send(false), await send(true), 'a result with `isError` is sent like any other');
}

async function sendsChoice(stage: TestBench, recording: TextRecording): Promise<void> {
  const list = [...TOOLS.list, { ...TOOLS.list[0], name: OTHER_NAME }];
  const send = (choice?: Tools['choice']) =>
    collectSent(stage, recording, { tools: { list, ...(choice && { choice }) } });
  const free = await send();
  for (const choice of ['any', { name: OTHER_NAME }] as const) {
    assert.notEqual(await send(choice), free, `the choice ${JSON.stringify(choice)} changes nothing in what is sent`);
  }
}

function continueAfter(
  { call }: TextRecording,
  calls: readonly Content[],
  results: readonly Content[],
): readonly TextMessage[] {
  return [...call.messages, { role: 'assistant', content: calls }, { role: 'user', content: results }];
}

function createCall(id: string, json: string): Content {
  return { type: 'tool-call', id, name: NAME, json };
}

function createResult(id: string, text: string): Content {
  return { type: 'tool-result', id, name: NAME, isError: false, content: [{ type: 'text', text }] };
}
