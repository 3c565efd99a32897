import { expect } from 'chai';
import { createFinishReason } from '../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';

const reasonOf = createFinishReason(createHostFault({ secrets: [] }));

describe('words for the end of an answer', () => {
  it('are known in any case and with something behind a colon', () => {
    const rows = [
      ['stop', 'stop'],
      ['END_TURN', 'stop'],
      ['eos_token', 'stop'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['SAFETY', 'filter'],
      ['content_filter: violence', 'filter'],
      ['content-filter', 'filter'],
      ['tool-calls', 'tool'],
      ['tool_calls', 'tool'],
      ['function_call', 'tool'],
      ['whatever', 'other'],
      ['stop sign', 'other'],
    ] as const;
    for (const [word, reason] of rows) expect(reasonOf(word), word).to.equal(reason);
  });

  const known = {
    stop: 'stop eos eos_token end end_turn stop_sequence stop_token complete completed finished done',
    length: `length max_tokens max_output_tokens max_completion_tokens max_length model_length token_limit
      model_context_window_exceeded context_length_exceeded context time_limit`,
    filter: `content_filter content_filtered content_policy sensitive SAFETY refusal RECITATION BLOCKLIST blacklist
      PROHIBITED_CONTENT SPII LANGUAGE IMAGE_SAFETY IMAGE_RECITATION IMAGE_PROHIBITED_CONTENT guardrail_intervened
      guardrails MODEL_ARMOR`,
    tool: 'tool_calls tool_call tool_use function_call',
    other: 'OTHER TOO_MANY_TOOL_CALLS pause_turn',
  };
  for (const [reason, words] of Object.entries(known)) {
    it(`mean ${reason}, whoever says them`, () => {
      for (const word of words.split(/\s+/)) expect(reasonOf(word), word).to.equal(reason);
    });
  }

  it('say nothing yet where they are none', () => {
    for (const word of ['', 'null', 'None', 'FINISH_REASON_UNSPECIFIED', null, undefined, 1]) {
      expect(reasonOf(word), `${word}`).to.equal(undefined);
    }
  });

  it('are a fault where the text is not the whole answer, in the words of the upstream if it has some', () => {
    const rows = [
      ...['error', 'Network_Error', 'server_error', 'internal_error', 'failed'].map(
        (word) => [word, 'server'] as const,
      ),
      ...['abort', 'aborted', 'cancelled', 'canceled'].map((word) => [word, 'server'] as const),
      ...['upstream_error', 'model_error', 'engine_error', 'stream_error', 'upstream_failed', 'unavailable'].map(
        (word) => [word, 'server'] as const,
      ),
      ...['MALFORMED_FUNCTION_CALL', 'malformed_response', 'UNEXPECTED_TOOL_CALL', 'MISSING_THOUGHT_SIGNATURE'].map(
        (word) => [word, 'server'] as const,
      ),
      ['function_call_filter: MALFORMED_FUNCTION_CALL', 'server'],
      ...['timeout', 'request_timeout', 'upstream_timed_out', 'timeout_error'].map(
        (word) => [word, 'timeout'] as const,
      ),
      ...['insufficient_system_resource', 'engine_overloaded', 'overloaded_error', 'server_busy'].map(
        (word) => [word, 'overloaded'] as const,
      ),
      ['rate_limit_exceeded', 'rate'],
    ] as const;
    for (const [word, kind] of rows) {
      const thrown = expect(() => reasonOf(word), word).to.throw();
      thrown.with.property('kind', kind);
      thrown.with.property('detail', `finish reason ${word}`);
    }
    const told = { code: 429, message: 'slow down' };
    expect(() => reasonOf('error', told))
      .to.throw('slow down')
      .with.property('kind', 'rate');
    expect(() => reasonOf('timeout', {}))
      .to.throw('finish reason timeout')
      .with.property('kind', 'timeout');
  });
});
