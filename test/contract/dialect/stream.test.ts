// Whatever parts an answer has, each dialect writes a stream that its clients read back exactly, with the spec's keys
// and no others.
import { expect } from 'chai';
import fc from 'fast-check';
import { Stream as ChatStream } from 'openai/streaming';
import { type FaultCode, fault } from '../../../lib/base/faults.ts';
import type { BillingPart, FinishReason, StreamPart } from '../../../lib/stream/part.ts';
import { parseEvents } from '../../../testkit/client.ts';
import { ANY_CHARACTER } from '../../../testkit/code-points.ts';
import { longer } from '../../../testkit/long.ts';
import { createSseDecoder, type ServerSentEvent } from '../../../testkit/sse.ts';
import { readStream, renderAll, SUBJECTS } from './subject.ts';

const REASONS: readonly FinishReason[] = ['stop', 'length', 'filter', 'tool', 'other'];

const BILLING: BillingPart = {
  type: 'billing',
  charged: 2_007_001n,
  reserved: 5_005_000n,
  balance: -1n,
  priceInput: 1_000_000_000n,
  priceOutput: 5_000_000_000n,
};

const BILLING_BLOCK = {
  charged_rub: 2.007001,
  reserved_rub: 5.005,
  balance_rub: -0.000001,
  unit: '1M_tokens',
  rub_per_mtok_in: 1000,
  rub_per_mtok_out: 5000,
  rub_per_mtok: 1000,
};

/** Code units of every kind: lone surrogates, separators of lines, control characters, halves of emoji. */
const unit = fc.oneof(
  fc.constantFrom(
    '\ud83d',
    '\udc4b',
    '\u2028',
    '\u2029',
    '\u0085',
    '\r\n',
    '\n',
    '\r',
    '\0',
    '\u001b',
    '\ufeff',
    '\ufffe',
  ),
  fc.constantFrom('data: ', 'event: x', '[DONE]', '\n\n', '"', '\\', '</script>', '{"error":1}', '👋🏽', 'é', 'Привет'),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.string({ maxLength: 5 }),
);
const fragment = fc.array(unit, { minLength: 1, maxLength: 4 }).map((units) => units.join(''));

interface Sequence {
  readonly blocks: readonly (readonly string[])[];
  readonly ending: FinishReason | 'error';
  readonly id: string;
  readonly model: string;
  readonly output: number;
  /** Where the parts are cut into arrays. */
  readonly cuts: readonly number[];
}

const sequence: fc.Arbitrary<Sequence> = fc.record({
  blocks: fc.array(fc.array(fragment, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
  ending: fc.constantFrom<FinishReason | 'error'>(...REASONS, 'error'),
  id: fc.stringMatching(/^req_[0-9a-f]{1,8}$/),
  model: fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 8 }),
  output: fc.nat(),
  cuts: fc.array(fc.nat({ max: 30 }), { maxLength: 5 }),
});

/** The parts as the engine gives them to an output; an error breaks off inside the last block. */
function partsOf({ blocks, ending, id, model, output }: Sequence): readonly StreamPart[] {
  const content = blocks.flatMap((texts, index): StreamPart[] => [
    { type: 'block-start', index, block: { type: 'text' } },
    ...texts.map((text): StreamPart => ({ type: 'block-delta', index, text })),
    ...(ending === 'error' && index === blocks.length - 1 ? [] : [{ type: 'block-end', index } as const]),
  ]);
  const tail: readonly StreamPart[] =
    ending === 'error'
      ? [{ type: 'error', fault: fault('upstream_truncated') }]
      : [{ type: 'usage', input: 11, output }, { type: 'finish', reason: ending }, BILLING];
  return [{ type: 'usage', input: 11, output: 0 }, { type: 'start', id, model }, ...content, ...tail];
}

function cut<T>(items: readonly T[], at: readonly number[]): readonly (readonly T[])[] {
  const places = [...at.map((place) => Math.min(place, items.length)), items.length].sort((a, b) => a - b);
  return places.map((end, index) => items.slice(places[index - 1] ?? 0, end));
}

/** A JSON value with its leaves replaced by their types. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

const BILLING_SHAPE = shapeOf(BILLING_BLOCK);

const CHUNK_SHAPE = { id: 'string', object: 'string', created: 'number', model: 'string' };

const ITEM_SHAPE = { id: 'string', type: 'string', status: 'string', role: 'string' };
const PART_SHAPE = { type: 'string', annotations: [], logprobs: [], text: 'string' };
const WHOLE_ITEM_SHAPE = { ...ITEM_SHAPE, content: [PART_SHAPE] };
const EVENT_SHAPE = { type: 'string', sequence_number: 'number' };
const IN_PART_SHAPE = { ...EVENT_SHAPE, item_id: 'string', output_index: 'number', content_index: 'number' };
const USAGE_SHAPE = {
  input_tokens: 'number',
  input_tokens_details: { cached_tokens: 'number', cache_write_tokens: 'number' },
  output_tokens: 'number',
  output_tokens_details: { reasoning_tokens: 'number' },
  total_tokens: 'number',
};

/** What a response repeats of its request. */
const ECHO_SHAPE = {
  background: 'boolean',
  frequency_penalty: 'number',
  presence_penalty: 'number',
  instructions: 'null',
  max_output_tokens: 'null',
  metadata: {},
  parallel_tool_calls: 'boolean',
  previous_response_id: 'null',
  reasoning: { effort: 'null', summary: 'null' },
  store: 'boolean',
  temperature: 'null',
  text: { format: { type: 'string' } },
  tool_choice: 'string',
  tools: [],
  top_p: 'null',
  truncation: 'string',
};

function lifecycleShape(fields: object): object {
  const response = {
    id: 'string',
    object: 'string',
    created_at: 'number',
    completed_at: 'null',
    status: 'string',
    error: 'null',
    incomplete_details: 'null',
    model: 'string',
    output: [],
    usage: 'null',
    ...fields,
    ...ECHO_SHAPE,
  };
  return { ...EVENT_SHAPE, response };
}

const ENDED_SHAPE = {
  output: [WHOLE_ITEM_SHAPE, WHOLE_ITEM_SHAPE],
  usage: USAGE_SHAPE,
  billing: { payer: 'string', ...(BILLING_SHAPE as object) },
};

const FAILURE_SHAPE = { code: 'string', message: 'string', param: 'null' };

const RESPONSES_SHAPES: readonly unknown[] = [
  lifecycleShape({}),
  { ...EVENT_SHAPE, output_index: 'number', item: { ...ITEM_SHAPE, content: [] } },
  { ...EVENT_SHAPE, output_index: 'number', item: WHOLE_ITEM_SHAPE },
  { ...IN_PART_SHAPE, part: PART_SHAPE },
  { ...IN_PART_SHAPE, delta: 'string', logprobs: [] },
  { ...IN_PART_SHAPE, text: 'string', logprobs: [] },
  lifecycleShape({ ...ENDED_SHAPE, completed_at: 'number' }),
  lifecycleShape({ ...ENDED_SHAPE, incomplete_details: { reason: 'string' } }),
  { ...EVENT_SHAPE, ...FAILURE_SHAPE, error: { type: 'string', ...FAILURE_SHAPE } },
  lifecycleShape({ output: ENDED_SHAPE.output, error: { code: 'string', type: 'string', message: 'string' } }),
];

/** The spec's keys of everything that may come in a stream. */
const SHAPES: Readonly<Record<string, readonly unknown[]>> = {
  message: [
    {
      type: 'string',
      message: {
        id: 'string',
        type: 'string',
        role: 'string',
        model: 'string',
        content: [],
        stop_reason: 'null',
        usage: { input_tokens: 'number', output_tokens: 'number' },
      },
    },
    { type: 'string', index: 'number', content_block: { type: 'string', text: 'string' } },
    { type: 'string', index: 'number', delta: { type: 'string', text: 'string' } },
    { type: 'string', index: 'number' },
    {
      type: 'string',
      delta: { stop_reason: 'string', stop_sequence: 'null' },
      usage: { input_tokens: 'number', output_tokens: 'number' },
    },
    { type: 'string' },
    { type: 'string', ...(BILLING_SHAPE as object) },
    { type: 'string', error: { type: 'string', message: 'string' } },
  ],
  chat: [
    ...[{ role: 'string', content: 'string' }, { content: 'string' }].map((delta) => ({
      ...CHUNK_SHAPE,
      choices: [{ index: 'number', delta, finish_reason: 'null' }],
    })),
    {
      ...CHUNK_SHAPE,
      choices: [{ index: 'number', delta: {}, finish_reason: 'string' }],
      usage: { prompt_tokens: 'number', completion_tokens: 'number', total_tokens: 'number' },
      billing: BILLING_SHAPE,
    },
    { error: { message: 'string', type: 'string', code: 'string' } },
    'string',
  ],
  responses: RESPONSES_SHAPES,
};

/** Of an answer that failed before its first fragment. */
const FAILED: Readonly<Record<string, readonly string[]>> = {
  message: ['error'],
  chat: ['error', 'done'],
  responses: ['response.created', 'response.in_progress', 'error', 'response.failed'],
};

/** The kinds of events of a whole answer, by the texts of its blocks, and of one that broke off. */
function kindsOf(name: string, { blocks, ending }: Sequence): readonly string[] {
  const failed = ending === 'error';
  if (name === 'chat') {
    const content = blocks.flat().length > 0 ? ['content'] : [];
    return ['role', ...content, failed ? 'error' : 'final', 'done'];
  }
  if (name === 'responses') {
    const items = blocks.flatMap((texts, at) => {
      const isOpen = failed && at === blocks.length - 1;
      return [
        'output_item.added',
        'content_part.added',
        ...(texts.length > 0 ? ['output_text.delta'] : []),
        ...(isOpen && texts.join('') === '' ? [] : ['output_text.done', 'content_part.done', 'output_item.done']),
      ];
    });
    const begun = ['created', 'in_progress', ...items].map((kind) => `response.${kind}`);
    if (failed) return [...begun, 'error', 'response.failed'];
    return [...begun, ending === 'length' || ending === 'filter' ? 'response.incomplete' : 'response.completed'];
  }
  const content = blocks.flatMap((texts, at) => [
    'content_block_start',
    ...(texts.length > 0 ? ['content_block_delta'] : []),
    ...(failed && at === blocks.length - 1 ? [] : ['content_block_stop']),
  ]);
  return ['message_start', ...content, ...(failed ? ['error'] : ['message_delta', 'message_stop', 'billing'])];
}

describe('the contract of dialects: streams', () => {
  for (const subject of SUBJECTS) {
    describe(subject.name, () => {
      it('reads back what was written, however the parts arrive', () => {
        fc.assert(
          fc.property(sequence, (answer) => {
            const parts = partsOf(answer);
            const text = renderAll(subject, cut(parts, answer.cuts));
            const read = readStream(subject, text);
            expect(read.text).to.equal(answer.blocks.flat().join(''));
            expect(read.kinds).to.deep.equal(kindsOf(subject.name, answer));
            expect(read).to.include({ id: subject.idPrefix + answer.id, model: answer.model });
            if (answer.ending === 'error') return;
            const { output, ending } = answer;
            expect(read).to.include({ input: 11, output, reason: subject.reasons[ending] });
            expect(read.billing).to.deep.equal(BILLING_BLOCK);
          }),
          { numRuns: longer(60, 300) },
        );
      });

      it('survives bytes cut anywhere and readers that are not ours', async () => {
        await fc.assert(
          fc.asyncProperty(sequence, async (answer) => {
            const bytes = Buffer.from(renderAll(subject, [partsOf(answer)]));
            const decoder = createSseDecoder();
            const events: ServerSentEvent[] = [];
            for (const piece of cut([...bytes], answer.cuts)) decoder.push(Uint8Array.from(piece), events);
            decoder.end(events);
            const strict = parseEvents(bytes.toString());
            expect(events).to.have.length(strict.length);
            const parsed = events.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)));
            expect(parsed).to.deep.equal(strict.map(({ data }) => data));
            if (subject.name !== 'chat' || answer.ending === 'error') return;
            const chunks: unknown[] = [];
            const stream = ChatStream.fromSSEResponse(new Response(bytes), new AbortController());
            for await (const chunk of stream) chunks.push(chunk);
            expect([...chunks, '[DONE]']).to.deep.equal(parsed);
          }),
          { numRuns: longer(20, 100) },
        );
      });

      it('writes the keys of the spec and no others', () => {
        const seen = new Set<string>();
        const allowed = new Set(SHAPES[subject.name]?.map((shape) => JSON.stringify(shape)));
        for (const ending of [...REASONS, 'error'] as const) {
          const answer = { blocks: [['a', 'b'], ['c']], ending, id: 'x', model: 'm', output: 3, cuts: [] };
          for (const { data } of parseEvents(renderAll(subject, [partsOf(answer)])))
            seen.add(JSON.stringify(shapeOf(data)));
        }
        expect(seen).to.deep.equal(allowed);
      });

      const failing = { blocks: [['a']], ending: 'error', id: 'x', model: 'm', output: 0, cuts: [] } as const;

      if (subject.name !== 'chat') {
        it('names each event in its data', () => {
          const text = [{ ...failing, ending: 'stop' } as const, failing].map((answer) =>
            renderAll(subject, [partsOf(answer)]),
          );
          for (const { event, data } of parseEvents(text.join(''))) {
            if (event !== 'billing') expect(data.type).to.equal(event);
          }
        });
      }

      const codes: readonly FaultCode[] = [
        'upstream_failed',
        'upstream_timeout',
        'upstream_truncated',
        'upstream_empty',
        'upstream_refused',
        'vision_unavailable',
        'internal',
        'shutting_down',
      ];

      for (const code of codes) {
        it(`ends a stream that fails with ${code} before and after its first fragment`, () => {
          const reason = fault(code, { refunded: true });
          const { type } = reason.data as { type: string };
          // After any other code agents of this dialect would try again.
          const known =
            subject.name === 'responses' && code === 'upstream_refused' ? 'invalid_prompt' : 'upstream_error';
          const envelope = subject.envelope({ type, code: known, message: reason.message });
          expect(reason.message).to.match(/ Charge refunded\.$/);
          const early = readStream(subject, renderAll(subject, [[{ type: 'error', fault: reason }]]));
          expect(early.error).to.deep.equal(envelope);
          expect(early.kinds).to.deep.equal(FAILED[subject.name]);
          const parts = [...partsOf(failing).slice(0, -1), { type: 'error', fault: reason } as const];
          const late = readStream(subject, renderAll(subject, [parts]));
          expect(late.error).to.deep.equal(envelope);
          expect(late.text).to.equal('a');
        });
      }
    });
  }
});
