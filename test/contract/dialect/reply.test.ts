// Replies that do not stream, and error bodies: the same answer in both dialects, in the keys of the spec.
import { expect } from 'chai';
import fc from 'fast-check';
import { styleAt } from '../../../lib/api/response-styles.ts';
import { type FaultCode, fault } from '../../../lib/base/faults.ts';
import { type CollectedReply, createCollector } from '../../../lib/stream/collect.ts';
import type { BillingPart, FinishReason, StreamPart } from '../../../lib/stream/part.ts';
import { longer } from '../../../testkit/long.ts';
import { ANSWERED, SUBJECTS } from './subject.ts';

const BILLING: BillingPart = {
  type: 'billing',
  charged: 500_000n,
  reserved: 41_000_000n,
  balance: 999_500_000n,
  priceInput: 12_345_678n,
  priceOutput: 98_765_432n,
};

const REPLY: CollectedReply = {
  id: 'req_1',
  model: 'model-a',
  blocks: [{ type: 'text', text: 'Hello' }],
  usage: { input: 7, output: 2 },
  reason: 'stop',
  billing: BILLING,
};

const PATHS: Readonly<Record<string, string>> = {
  message: '/api/v1/messages',
  chat: '/api/v1/chat/completions',
  responses: '/api/v1/responses',
};

/** The keys of an object and of the objects in it, as paths. */
function keysOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [`${path}.${key}`, ...keysOf(item, `${path}.${key}`)]);
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  message: [
    '.id',
    '.type',
    '.role',
    '.model',
    '.content',
    '.content[].type',
    '.content[].text',
    '.stop_reason',
    '.stop_sequence',
    '.usage',
    '.usage.input_tokens',
    '.usage.output_tokens',
  ],
  chat: [
    '.id',
    '.object',
    '.created',
    '.model',
    '.choices',
    '.choices[].index',
    '.choices[].message',
    '.choices[].message.role',
    '.choices[].message.content',
    '.choices[].finish_reason',
    '.usage',
    '.usage.prompt_tokens',
    '.usage.completion_tokens',
    '.usage.total_tokens',
    '.billing',
    '.billing.charged_rub',
    '.billing.reserved_rub',
    '.billing.balance_rub',
    '.billing.unit',
    '.billing.rub_per_mtok_in',
    '.billing.rub_per_mtok_out',
    '.billing.rub_per_mtok',
  ],
  responses: [
    '.id',
    '.object',
    '.created_at',
    '.completed_at',
    '.status',
    '.error',
    '.incomplete_details',
    '.model',
    '.output',
    '.output[].id',
    '.output[].type',
    '.output[].status',
    '.output[].role',
    '.output[].content',
    '.output[].content[].type',
    '.output[].content[].annotations',
    '.output[].content[].logprobs',
    '.output[].content[].text',
    '.usage',
    '.usage.input_tokens',
    '.usage.input_tokens_details',
    '.usage.input_tokens_details.cached_tokens',
    '.usage.input_tokens_details.cache_write_tokens',
    '.usage.output_tokens',
    '.usage.output_tokens_details',
    '.usage.output_tokens_details.reasoning_tokens',
    '.usage.total_tokens',
    '.billing',
    '.billing.payer',
    '.billing.charged_rub',
    '.billing.reserved_rub',
    '.billing.balance_rub',
    '.billing.unit',
    '.billing.rub_per_mtok_in',
    '.billing.rub_per_mtok_out',
    '.billing.rub_per_mtok',
    '.background',
    '.frequency_penalty',
    '.presence_penalty',
    '.instructions',
    '.max_output_tokens',
    '.metadata',
    '.parallel_tool_calls',
    '.previous_response_id',
    '.reasoning',
    '.reasoning.effort',
    '.reasoning.summary',
    '.store',
    '.temperature',
    '.text',
    '.text.format',
    '.text.format.type',
    '.tool_choice',
    '.tools',
    '.top_p',
    '.truncation',
  ],
};

describe('the contract of dialects: replies', () => {
  for (const subject of SUBJECTS) {
    const { name, dialect, reasons, idPrefix } = subject;

    describe(name, () => {
      it('writes the keys of the spec and no others', () => {
        expect(keysOf(dialect.reply(REPLY, ANSWERED))).to.deep.equal(KEYS[name]);
      });

      for (const [reason, word] of Object.entries(reasons) as [FinishReason, string][]) {
        it(`says ${word} for ${reason}`, () => {
          expect(subject.readReply(dialect.reply({ ...REPLY, reason }, ANSWERED)).reason).to.equal(word);
        });
      }

      it('keeps any text through the collector and JSON', () => {
        const texts = fc.array(fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) }));
        fc.assert(
          fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat(), (blocks, input, output) => {
            const collector = createCollector();
            const content = blocks.flatMap((deltas, index): StreamPart[] => [
              { type: 'block-start', index, block: { type: 'text' } },
              ...deltas.map((text): StreamPart => ({ type: 'block-delta', index, text })),
              { type: 'block-end', index },
            ]);
            collector.write([
              { type: 'usage', input: 1, output: 0 },
              { type: 'start', id: 'req_1', model: 'm' },
            ]);
            collector.write(content);
            collector.write([{ type: 'usage', input, output }, { type: 'finish', reason: 'stop' }, BILLING]);
            const wire = JSON.parse(JSON.stringify(dialect.reply(collector.reply(), ANSWERED)));
            const read = subject.readReply(wire);
            expect(read).to.include({ id: `${idPrefix}req_1`, model: 'm', input, output });
            expect(read.text).to.equal(blocks.flat().join(''));
          }),
          { numRuns: longer(40, 200) },
        );
      });

      const faults: readonly (readonly [FaultCode, object, string, string])[] = [
        ['invalid_json', {}, 'invalid_request_error', 'invalid_request'],
        ['unknown_model', { model: 'x' }, 'invalid_request_error', 'invalid_request'],
        ['missing_key', {}, 'authentication_error', 'invalid_api_key'],
        ['invalid_key', {}, 'authentication_error', 'invalid_api_key'],
        ['never_topped_up', { minimumRub: '1000.00' }, 'billing_error', 'insufficient_balance'],
        ['insufficient_balance', { priceRub: '2.00', balanceRub: '1.00' }, 'billing_error', 'insufficient_balance'],
        ['account_suspended', {}, 'permission_error', 'account_suspended'],
        ['not_found', {}, 'not_found_error', 'not_found'],
        ['method_not_allowed', { hint: 'POST' }, 'invalid_request_error', 'method_not_allowed'],
        ['body_timeout', {}, 'invalid_request_error', 'request_timeout'],
        ['body_too_large', { hint: '48 MiB' }, 'invalid_request_error', 'request_too_large'],
        ['unsupported_media_type', { field: 'a', hint: 'b' }, 'invalid_request_error', 'unsupported_media_type'],
        ['rate_limited', { hint: 'x', retryAfterS: 5 }, 'rate_limit_error', 'rate_limit_exceeded'],
        ['internal', {}, 'api_error', 'internal_error'],
        ['upstream_failed', {}, 'api_error', 'upstream_error'],
        ['store_unavailable', {}, 'api_error', 'service_unavailable'],
      ];

      for (const [code, detail, type, chatCode] of faults) {
        it(`writes ${code} in its envelope`, () => {
          const reason = fault(code, detail);
          expect(reason.message).not.to.contain('undefined');
          const { body } = styleAt(PATHS[name] as string).renderFault(reason);
          expect(JSON.parse(body)).to.deep.equal(subject.envelope({ type, code: chatCode, message: reason.message }));
        });
      }
    });
  }

  it('means the same in both', () => {
    const [first, second] = SUBJECTS.map((subject) => subject.readReply(subject.dialect.reply(REPLY, ANSWERED)));
    expect(first).to.include({
      model: second?.model,
      text: second?.text,
      input: second?.input,
      output: second?.output,
    });
  });
});
