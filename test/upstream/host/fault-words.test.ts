import { expect } from 'chai';
import { findComplaint } from '../../../lib/upstream/host/error-body.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';

const host = createHostFault({
  secrets: ['sk-very-secret'],
  words: { quota: '1113', content: 'E_FILTER', rate: 'oops', auth: 'api_denied' },
});

const error = (message: string, code?: unknown, type?: string) => ({ error: { message, code, type } });
/** What a broker says of a vendor behind it. */
const behind = (raw: string, code: number) => ({
  error: { message: 'Provider returned error', code, metadata: { raw } },
});

/** `request/length`, or the kind alone. */
const named = ({ kind, about }: { kind: string; about?: string }) => (about === undefined ? kind : `${kind}/${about}`);

describe('faults by texts of a plugin', () => {
  const own = createHostFault({
    secrets: [],
    words: { quota: 'empty_purse', request: 'e_bad', timeout: 'throttled' },
    texts: { content: /\bnsfw\b/i, missing: /version does not exist/g, auth: /model not found/, quota: /trial key/ },
    statuses: { 498: 'auth', 424: 'server', 409: 'length', 404: 'request' },
  });
  for (const [status, body, kind] of [
    [undefined, { error: 'NSFW content detected' }, 'request/content'],
    [400, { error: 'NSFW content detected' }, 'request/content'],
    [422, { detail: 'The version does not exist' }, 'missing'],
    [422, { detail: 'nsfwish' }, 'request'],
    // Before what the host knows, after codes, and never where the status says more.
    [400, error('model not found'), 'auth'],
    [400, error('nsfw', 'empty_purse'), 'quota'],
    [400, error('x', 'throttled'), 'timeout'],
    [400, error('context length exceeded', 'e_bad'), 'request/length'],
    [404, { error: 'nsfw' }, 'request'],
    [401, { error: 'nsfw' }, 'auth'],
    [429, { error: 'nsfw' }, 'rate'],
    [429, { message: 'You are using a Trial key, which is limited: trial key, 1000 calls a month' }, 'quota'],
    // A status that the vendor redefines comes after its codes and texts, before what the host knows.
    [498, { message: 'invalid token' }, 'auth'],
    [498, error('x', 'empty_purse'), 'quota'],
    [424, { message: 'The prompt is too long.' }, 'server'],
    [409, {}, 'request/length'],
    [408, { message: 'The request took too long to process.' }, 'timeout'],
    [500, { error: 'nsfw' }, 'server'],
  ] as const) {
    it(`call a ${status ?? 'complaint'} of ${JSON.stringify(body)} ${kind}, as often as it comes`, () => {
      for (let times = 0; times < 2; times += 1) {
        const fault =
          status === undefined ? own.ofComplaint(body, true) : own.ofReply(status, {}, JSON.stringify(body));
        expect(named(fault)).to.equal(kind);
      }
    });
  }
});

describe('faults by what an upstream says', () => {
  const replies: readonly (readonly [status: number, body: unknown, kind: string])[] = [
    [400, error('Unrecognized request argument', 'unknown_parameter'), 'missing'],
    [400, error('model `x` has been decommissioned', null, 'invalid_request_error'), 'missing'],
    [400, error('The model does not support images', 'invalid_value', 'invalid_request_error'), 'request'],
    [403, error('Your team has used all available credits or reached its monthly spending limit'), 'quota'],
    [403, error('Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys', 403), 'quota'],
    [401, error('该令牌额度已用尽 TokenStatusExhausted[sk-x]', null, 'new_api_error'), 'quota'],
    [400, error('Your organization must be verified to stream this model.', 'unsupported_value'), 'auth'],
    [400, error("'temperature' does not support 0.2 with this model.", 'unsupported_value'), 'missing'],
    [403, { code: 'permission-denied', error: 'Content violates usage guidelines. ' }, 'request/content'],
    [403, { error: 'This prompt violates our content policy' }, 'request/content'],
    [400, { error: 'Generated video rejected by content moderation.' }, 'request/content'],
    [403, { code: 'permission-denied', error: 'Access to the chat endpoint is denied' }, 'auth'],
    [404, { message: 'Not Found' }, 'missing'],
    [404, { error: 'nothing here' }, 'missing'],
    [404, error('x', 'insufficient_quota'), 'missing'],
    [404, 'a page', 'missing'],
    [404, error("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."), 'request'],
    [409, error('conflict'), 'request'],
    [413, 'a page', 'request/length'],
    // Local servers call what is too long for them a failure of their own.
    [500, error('input (681 tokens) is too large to process. increase the physical batch size', 500), 'request/length'],
    [500, error('Input prompt is too big compared to KV size.', 500, 'server_error'), 'request/length'],
    [500, error('Context size has been exceeded.', 500, 'server_error'), 'request/length'],
    [500, { error: 'the input length exceeds the context length' }, 'request/length'],
    // So they call what they cannot do, and what the template of the model refuses.
    [500, error('image input is not supported - hint: you may need to provide the mmproj', 500), 'missing'],
    [400, error('audio input is not supported by this server'), 'missing'],
    [500, error('tools param requires --jinja flag', 500, 'server_error'), 'missing'],
    [400, error('tool_choice param requires --jinja flag'), 'missing'],
    [500, error('Unsupported param: tools', 500, 'server_error'), 'missing'],
    [500, error("raise_exception('System role not supported')", 500, 'server_error'), 'missing'],
    [500, error("{{- raise_exception('After the optional system message, con...", 500, 'server_error'), 'request'],
    [500, error('Conversation roles must alternate user/assistant', 500), 'request'],
    [500, error('JSON schema conversion failed: Unrecognized schema: {"not":{}}', 500), 'request'],
    [500, error('An exception occurred while loading IMAGE data at index 0: image', 500), 'request/image'],
    [500, error('An exception occurred while loading AUDIO data at index 0: 404', 500), 'request'],
    [500, error('cannot identify image file <_io.BytesIO object>', 500), 'request/image'],
    [500, error("error parsing tool call: raw='ls'", 500), 'server'],
    [502, error('Conversation roles must alternate user/assistant', 502), 'server'],
    [500, error('the request took too long', 500), 'server'],
    [503, error('Context size has been exceeded.'), 'overloaded'],
    // A message may begin with what it says.
    [400, { error: 'context length exceeded' }, 'request/length'],
    // Clients shorten a conversation that is too long, which helps if it is what is too long.
    [400, error("Invalid 'tools': array too long. Expected a maximum of 128.", 'array_above_max_length'), 'request'],
    [400, error("Invalid 'tools[13].function.description': string too long.", 'string_above_max_length'), 'request'],
    [400, error("Invalid 'messages[2].tool_calls[0].id': string too long.", 'string_above_max_length'), 'request'],
    [400, error("Invalid 'input[95].call_id': string too long.", 'string_above_max_length'), 'request'],
    [500, error("Invalid 'user': string too long. (request id: 1)", 'string_above_max_length'), 'request'],
    [400, error("'Looks things up' is too long - 'functions.0.description'"), 'request'],
    [400, error("'$.functions' is too long. Maximum length is 64, but got 256 items."), 'request'],
    [400, error("Invalid 'messages': array too long. Expected a maximum of 2048."), 'request/length'],
    [400, error("Invalid 'messages[3].content': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("Invalid 'input[3].content[0].text': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("Invalid 'input[4]': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("'Once upon a time' is too long - 'messages.0.content'"), 'request/length'],
    [400, error("'You are' is too long - 'system'"), 'request/length'],
    [400, error("Invalid 'instructions': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("Invalid 'input[4].output': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("Invalid 'input[4].arguments': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("Invalid 'prompt': string too long.", 'string_above_max_length'), 'request/length'],
    [400, error("'$.input' is too long. Maximum length is 2048"), 'request/length'],
    [400, error("'Once upon a time' is too long"), 'request/length'],
    // What is quoted may be a client's: the key of the upstream must not be paused for it.
    [400, error("Invalid schema for function 'get_billing_info': In context=(), 'x' is required."), 'request'],
    [400, error("Invalid schema for response_format 'x': In context=('properties', 'top_up'), …"), 'request'],
    [400, error("Invalid value: 'I don't recharge'. Supported values are: 'low'."), 'request'],
    [400, error(`Invalid value: '${'long '.repeat(150)} billing'.`), 'request'],
    [400, error(`Invalid value: '${'x'.repeat(990)} insufficient credits'.`), 'request'],
    [400, error('Tool "api_key_missing" is unknown.'), 'request'],
    [400, error('tools[0].parameters.properties[billing_period].enum: only allowed for STRING type'), 'request'],
    [400, error('Unexpected value `rate limit exceeded`.'), 'request'],
    [400, error("Your organization's balance is too low; see 'billing'."), 'quota'],
    [400, error("You can't use 'm': your balance isn't enough, recharge."), 'quota'],
    [400, error('upstream: {"message": "Insufficient balance"}'), 'quota'],
    [400, error('[{"message": "Insufficient balance"}]'), 'quota'],
    // Servers in Python quote the whole input.
    [400, error(`[{'msg': 'Field required', 'input': {'text': '{"a": 1} about billing'}}]`), 'request'],
    [400, error(`Input should be a valid string [input_value={'a': 'billing {"x": 2}'}, input_type=dict]`), 'request'],
    [422, { detail: 'bad' }, 'request'],
    [429, error('slow down', 'insufficient_quota', 'rate_limit_error'), 'quota'],
    [429, behind('You exceeded your current quota, please check your plan and billing details.', 429), 'rate'],
    [400, behind('Your credit balance is too low to access the API', 400), 'server'],
    [401, behind('Incorrect API key provided', 401), 'server'],
    [400, behind('prompt is too long: 210000 tokens > 200000 maximum', 400), 'request/length'],
    [429, error('Workspace allocated quota exceeded, please increase your quota limit.', 'insufficient_quota'), 'rate'],
    [429, error('Free allocated quota exceeded.', 'insufficient_quota'), 'quota'],
    [429, error('model not found'), 'rate'],
    [429, error('You have reached your weekly usage limit'), 'quota'],
    [429, error('usage limit exceeded, 5-hour usage limit reached', null, 'rate_limit_error'), 'quota'],
    [403, error('rate limit exceeded'), 'rate'],
    [405, { detail: 'Method Not Allowed' }, 'missing'],
    [400, error("Specified folder 'x' does not match with service account folder 'y'"), 'auth'],
    [400, error('invalid model_uri'), 'missing'],
    [400, error('Failed to parse model URI'), 'missing'],
    [429, error('Quota of the minute is exhausted', 'RESOURCE_EXHAUSTED'), 'rate'],
    [429, error('Your prepayment credits are depleted.', 'RESOURCE_EXHAUSTED'), 'quota'],
    [400, { error: { message: 'x', status: 'INVALID_ARGUMENT', details: [null, { reason: 'API_DENIED' }] } }, 'auth'],
    [498, error('x'), 'overloaded'],
    [500, error('model not found'), 'server'],
    [500, error('the content policy service is down'), 'server'],
    [429, error('the content policy service is busy'), 'rate'],
    [500, error('billing service unreachable'), 'server'],
    [503, error('x', 'server_error'), 'overloaded'],
    [401, error('Incorrect API key provided'), 'auth'],
    [400, error('API key not valid. Please pass a valid API key.'), 'auth'],
    [400, error("This model's maximum context length is 8192 tokens", 'context_length_exceeded'), 'request/length'],
    [400, error('prompt is too long: 210000 tokens > 200000 maximum'), 'request/length'],
    [400, error('max_tokens: 9000 > 8192, which is greater than allowed'), 'request/length'],
    [400, error('Please reduce the length of the messages'), 'request/length'],
    [400, error('x', 'content_filter'), 'request/content'],
    [403, error('Your input was flagged'), 'request/content'],
    [403, error('Project `p` does not have access to model `m`', 'model_not_found'), 'auth'],
    [401, error('The model m is not available'), 'auth'],
    [402, error('The model m is not available'), 'quota'],
    [402, error('Prompt tokens limit exceeded: 5000 > 1000. Upgrade to a paid account'), 'quota'],
    [403, error('Blocked by our moderation system', 'permission_error'), 'request/content'],
    [403, error('NSFW', 'access_denied'), 'request/content'],
    [403, error('No.', 'content_filter', 'permission_error'), 'request/content'],
    [403, error('Your account has been flagged for violating our usage policies'), 'auth'],
    [403, error('The context length is too large'), 'request/length'],
    [400, error('Your request was rejected by our safety system'), 'request/content'],
    [400, error('Could not process image', null, 'invalid_request_error'), 'request/image'],
    [400, error('Invalid image data', 'invalid_image_format'), 'request/image'],
    [400, error('The image data you provided does not represent a valid image.'), 'request/image'],
    [400, error('messages: image dimensions exceed max allowed size'), 'request/image'],
    [400, error('The request failed because the input text may contain sensitive information'), 'request/content'],
    [400, error('Inpaint image must match the requested width and height'), 'request/image'],
    [400, error('You do not have enough credits to run this task.'), 'quota'],
    [403, error('PROHIBITED_CONTENT'), 'request/content'],
    [400, error('The request was blocked because it contained PROHIBITED_CONTENT'), 'request/content'],
    [400, { status: 400, message: 'Request was blocked by content filter' }, 'request/content'],
    [
      500,
      error("input new_sensitive, messages[2]'s content[1] image is sensitive (1026)", 'new_sensitive'),
      'request/content',
    ],
    [
      400,
      error('the input token count is 9 but the model only supports up to 8. Reduce the input token count'),
      'request/length',
    ],
    [400, error('messages: unexpected role'), 'request'],
    [400, error('x', '1113'), 'quota'],
    [400, error('x', 'e_filter'), 'request/content'],
    [429, error('x', 1113), 'quota'],
    [400, error('x', 'oops'), 'rate'],
    // By the code alone.
    [400, error('x', 'insufficient_balance'), 'quota'],
    [400, error('x', 'model_not_found'), 'missing'],
    [400, error('x', 'permission_denied'), 'auth'],
    [400, error('x', 'too_many_requests'), 'rate'],
    [400, error('x', 'model_overloaded'), 'overloaded'],
    [400, error('x', 'deadline_exceeded'), 'timeout'],
    [400, error('x', 'invalid_image_format'), 'request/image'],
    [400, error('x', 'context_length_exceeded'), 'request/length'],
    // The more significant of two.
    [400, error('x', 'rate_limit_error', 'insufficient_quota'), 'quota'],
    [400, error('x', 'overloaded_error', 'rate_limit_error'), 'rate'],
    [400, error('x', 'timeout', 'overloaded_error'), 'overloaded'],
    [400, error(`${'x'.repeat(1000)} model not found`), 'request'],
    [400, error(`${'x'.repeat(980)} model not found`), 'missing'],
  ];
  for (const [status, body, expected] of replies) {
    it(`${status} ${JSON.stringify(body)} is ${expected}`, () => {
      const fault = host.ofReply(status, {}, typeof body === 'string' ? body : JSON.stringify(body));
      expect([named(fault), fault.status]).to.deep.equal([expected, status]);
    });
  }

  const values: readonly (readonly [value: unknown, kind: string | undefined])[] = [
    [{ choices: [], usage: {} }, undefined],
    [{ id: 'x', object: 'ping' }, undefined],
    [{ error: null, choices: [] }, undefined],
    [{ code: 0, message: 'Success' }, undefined],
    [{ code: '200', msg: 'ok' }, undefined],
    [{ base_resp: { status_code: 0, status_msg: '' }, choices: [] }, undefined],
    [{ success: true, errors: [] }, undefined],
    ['a text', undefined],
    [[], undefined],
    [null, undefined],
    [{ code: 10013, message: 'input is not allowed' }, 'server'],
    [{ status: 429, title: 'Too Many Requests' }, 'rate'],
    [{ error: { message: 'x', httpCode: 429 } }, 'rate'],
    [{ error: 'overloaded', error_type: 'overloaded' }, 'overloaded'],
    [error('x', '402'), 'quota'],
    [error('x', '404'), 'missing'],
    [error('x', null, 'invalid_request_error'), 'request'],
    [error('x', null, 'not_found_error'), 'missing'],
    [error('context length exceeded'), 'request/length'],
    [error('x'), 'server'],
    [[error('x', 503)], 'overloaded'],
    [{ base_resp: { status_code: 7, status_msg: 'x' } }, 'server'],
  ];
  for (const [value, expected] of values) {
    it(`${JSON.stringify(value)} is ${expected ?? 'no error'}`, () => {
      const fault = host.ofComplaint(value);
      expect(fault && named(fault)).to.equal(expected);
    });
  }

  it('always makes one of what is certainly an error', () => {
    for (const value of ['busy', {}, [], null, 7, { words: 1 }, { error: true }]) {
      expect(host.ofComplaint(value, true)).to.include({ name: 'UpstreamFault', kind: 'server' });
    }
    expect(host.ofComplaint('busy', true).detail).to.equal('busy');
    expect(host.ofComplaint(null, true).detail).to.equal('an error without a message');
  });

  it('takes the mere word that there is an error, and none that there is none', () => {
    expect(host.ofComplaint({ error: true, choices: [] })).to.include({ kind: 'server', detail: 'true' });
    for (const error of [false, 0, '', null, {}, []]) expect(findComplaint({ error, choices: [] })).to.equal(undefined);
  });

  it('takes an error apart wherever it is', () => {
    expect(
      findComplaint({ error: { message: 'm', code: 'C', metadata: { error_type: 'T' } }, status: 503 }),
    ).to.deep.equal({
      message: 'm',
      words: ['c', 't', '503'],
      status: 503,
    });
  });

  it('says the codes before the words, without secrets', () => {
    const { detail } = host.ofReply(
      401,
      {},
      JSON.stringify(error('no such key: sk-very-secret', 'invalid_api_key', 'error')),
    );
    expect(detail).to.equal('invalid_api_key: no such key: [secret]');
    const twice = host.ofReply(400, {}, JSON.stringify({ ...error('x', 'odd', 'odd'), code: 'odd' }));
    expect(twice.detail).to.equal('odd: x');
  });

  it('reads whatever comes with an error status as its complaint', () => {
    const details = [JSON.stringify('Slow down'), JSON.stringify({ note: 'x', title: 'Slow down' }), 'Slow down'].map(
      (text) => host.ofReply(429, {}, text).detail,
    );
    expect(details).to.deep.equal(['Slow down', 'Slow down', 'Slow down']);
  });

  const now = Date.parse('2026-01-01T00:00:00Z');
  const waits: readonly (readonly [headers: Record<string, string>, ms: number | undefined])[] = [
    [{}, undefined],
    [{ 'retry-after': '12' }, 12_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '12' }, 250],
    [{ 'retry-after': 'soon' }, undefined],
    // Spelled like the reset of a limit: a duration, or a time since the epoch.
    [{ 'retry-after': '20s' }, 20_000],
    [{ 'retry-after': '1m30s' }, 90_000],
    [{ 'retry-after': `${Math.floor(Date.now() / 1000) - 60}` }, 0],
    [{ 'retry-after': `${Date.now() + 10 * 86_400_000}` }, 86_400_000],
    [{ 'retry-after': '-1' }, 0],
    [{ 'retry-after': '999999999' }, 86_400_000],
    [{ 'retry-after': ' 3 ' }, 3_000],
    [{ 'retry-after-ms': '0.2' }, 1],
    [{ 'retry-after-ms': 'soon', 'retry-after': '2' }, 2_000],
    [{ 'retry-after': new Date(Date.now() + 10 * 86_400_000).toUTCString() }, 86_400_000],
    [{ 'retry-after': new Date(now - 60_000).toUTCString() }, 0],
  ];
  for (const [headers, ms] of waits) {
    it(`reads ${JSON.stringify(headers)} as ${ms}`, () => {
      expect(host.ofReply(429, headers, '').retryAfterMs).to.equal(ms);
    });
  }

  it('reads when to ask again from the details of an error, unless a header says so', () => {
    const details = [
      { reason: 'x' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '45.837906927s' },
    ];
    const body = JSON.stringify([{ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details } }]);
    expect(host.ofReply(429, {}, body)).to.include({ kind: 'rate', retryAfterMs: 45_838 });
    expect(host.ofReply(429, { 'retry-after': '2' }, body).retryAfterMs).to.equal(2000);
    expect(host.ofComplaint(JSON.parse(body))).to.include({ kind: 'rate', retryAfterMs: 45_838 });
    expect(host.ofReply(429, {}, JSON.stringify(error('m'))).retryAfterMs).to.equal(undefined);
  });
});
