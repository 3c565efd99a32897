// What the codes and texts of each vendor mean, whatever the status and the words around them.
import { expect } from 'chai';
import type { ProviderPlugin, UpstreamFault } from '../../lib/upstream/contract/provider.ts';
import { createHostFault } from '../../lib/upstream/host/host-fault.ts';
import anthropic from '../../providers/anthropic/index.ts';
import dashscope from '../../providers/dashscope/index.ts';
import fal from '../../providers/fal/index.ts';
import gemini from '../../providers/gemini/index.ts';
import gigachat from '../../providers/gigachat/index.ts';
import kling from '../../providers/kling/index.ts';
import minimax from '../../providers/minimax/index.ts';
import openaiCompatible from '../../providers/openai-compatible/index.ts';
import openaiImages from '../../providers/openai-images/index.ts';
import openaiVideos from '../../providers/openai-videos/index.ts';
import replicate from '../../providers/replicate/index.ts';
import seedance from '../../providers/seedance/index.ts';
import xai from '../../providers/xai/index.ts';
import yandex from '../../providers/yandex/index.ts';

type Plugin = Pick<ProviderPlugin, 'name' | 'faultWords' | 'faultTexts'>;
/** Codes or texts, by what they mean. */
type Meanings = Readonly<Record<string, readonly (string | number)[]>>;

/** Says nothing that any rule knows. */
const message = 'no comment';

const inError = (code: unknown) => ({ error: { code, message } });
const atTop = (code: unknown) => ({ code, message });
const inBase = (code: unknown) => ({ base_resp: { status_code: code, status_msg: message } });

/** A complaint without a status, which by itself would be a failure of the server. */
const COMPLAINTS: readonly (readonly [plugin: Plugin, told: (code: unknown) => object, meanings: Meanings])[] = [
  [
    anthropic,
    (code) => ({ type: 'error', error: { type: code, message } }),
    {
      quota: ['1113', '1308', '1309', '1310'],
      auth: ['1112', '1121'],
      missing: ['1311'],
      rate: ['1302'],
      overloaded: ['1305', '1312'],
    },
  ],
  [
    dashscope,
    atTop,
    {
      missing: ['ModelNotFound', 'Model.NotFound', 'InvalidParameter.Model'],
      auth: ['InvalidApiKey'],
      'request/content': ['DataInspectionFailed', 'IPInfringementSuspect'],
      rate: ['Throttling.BurstRate'],
    },
  ],
  [
    gemini,
    (reason) => ({ error: { code: 400, status: 'INVALID_ARGUMENT', message, details: [{ reason }] } }),
    { auth: ['API_KEY_INVALID', 'API_KEY_SERVICE_BLOCKED'] },
  ],
  [gemini, (status) => ({ error: { code: 400, status, message } }), { auth: ['FAILED_PRECONDITION'] }],
  [gigachat, atTop, { auth: [4, 5, 6, 7] }],
  [
    kling,
    atTop,
    {
      quota: [1100, 1101, 1102],
      auth: [1000, 1001, 1002, 1003, 1004, 1103],
      missing: [1202, 1203],
      'request/content': [1301],
      rate: [1302, 1303],
      request: [1200, 1201],
      overloaded: [5001],
      timeout: [5002],
    },
  ],
  ...[inBase, inError].map(
    (told) =>
      [
        minimax,
        told,
        {
          quota: [1008, 2056],
          missing: [2061],
          auth: [1004, 2049],
          rate: [1002, 1039, 1041],
          overloaded: [1033],
          timeout: [1001],
          'request/content': [1026, 1027],
          request: [2013],
        },
      ] as const,
  ),
  [
    openaiCompatible,
    inError,
    {
      quota: ['1113', '1304', '1308', '1309', '1310', 30001, 30011, 'SetLimitExceeded', 'QuotaExceeded'],
      missing: ['1211', '1220', '1221', '1222', '1311', 20012, 'InvalidParameter.UnsupportedParameter'],
      auth: ['1110', '1111', '1112', '1121', 11200],
      rate: ['1302', '1303'],
      overloaded: ['1305', '1312'],
      'request/content': ['1301', 'SensitiveContentDetected.SevereViolation', 'SensitiveContentDetected.Violence'],
      'request/length': ['1261', 'tokens_too_long', 'characters_too_long'],
    },
  ],
  [
    openaiCompatible,
    inBase,
    {
      quota: [1008, 2056],
      auth: [1004, 2049],
      missing: [2061],
      rate: [1002, 1039, 1041, 2045],
      overloaded: [1033],
      timeout: [1001],
      'request/content': [1026, 1027],
      request: [1042, 2013],
    },
  ],
  [openaiVideos, inError, { 'request/content': ['sentinel_block'] }],
  [
    seedance,
    inError,
    {
      quota: ['SetLimitExceeded', 'QuotaExceeded'],
      missing: ['ModelNotOpen', 'InvalidEndpoint.ClosedEndpoint'],
      auth: ['AuthenticationError', 'AccessDenied'],
      rate: ['RateLimitExceeded', 'RateLimitExceeded.EndpointRPMExceeded', 'ModelAccountRpmRateLimitExceeded'],
      'request/content': [
        'SensitiveContentDetected',
        'SensitiveContentDetected.SevereViolation',
        'InputTextSensitiveContentDetected',
        'InputImageSensitiveContentDetected.PrivacyInformation',
        'OutputTextSensitiveContentDetected',
        'OutputVideoSensitiveContentDetected.PolicyViolation',
        'OutputAudioSensitiveContentDetected.Violence',
        'AudioSensitiveContentDetected',
      ],
    },
  ],
  [xai, (code) => ({ code, error: message }), { 'request/content': ['imagine:content-moderated'] }],
];

/** A refusal with a status of its own, which by itself would be a plain refusal. */
const REFUSALS: readonly (readonly [plugin: Plugin, status: number, told: (said: unknown) => object, Meanings])[] = [
  [
    fal,
    422,
    (type) => ({ detail: [{ loc: ['body'], msg: message, type }] }),
    {
      'request/image': [
        'image_load_error',
        'file_download_error',
        'file_too_large',
        'image_too_small',
        'image_too_large',
        'unsupported_image_format',
      ],
      'request/content': ['content_policy_violation'],
      timeout: ['startup_timeout', 'generation_timeout'],
      overloaded: ['runner_scheduling_failure', 'downstream_service_unavailable'],
      server: [
        'runner_connection_timeout',
        'runner_disconnected',
        'runner_connection_refused',
        'runner_connection_error',
      ],
    },
  ],
  [
    openaiCompatible,
    400,
    inError,
    {
      quota: ['InvalidSubscription'],
      'request/content': ['system_unsafe', 'user_setting_unsafe', 'functions_unsafe', 'image_url_unsafe'],
    },
  ],
  [
    openaiImages,
    400,
    inError,
    {
      'request/content': ['sensitive_words_detected', 'safety_violation', 'image_safety'],
      server: ['image_generation_server_error'],
    },
  ],
  [
    gemini,
    400,
    (text) => ({ error: { code: 400, status: 'INVALID_ARGUMENT', message: text } }),
    {
      missing: [
        'Developer instruction is not enabled for models/gemma-3-27b-it',
        'The model does not support setting thinking_budget to 0',
      ],
    },
  ],
  [
    gigachat,
    400,
    (text) => ({ status: 400, message: text }),
    { auth: ['Scope data format invalid'], missing: ['This model does not support functions'] },
  ],
  [
    kling,
    400,
    (text) => ({ code: 1, message: text }),
    { 'request/content': ['Failure to pass the risk control system'] },
  ],
  [
    replicate,
    422,
    (detail) => ({ detail }),
    {
      missing: ['The specified version does not exist', 'Invalid version or not permitted'],
      'request/content': [
        'NSFW content detected',
        'Your prompt was flagged',
        'The input is sensitive',
        'Refused by the safety checker',
        'It did not pass moderation',
        'An error has occurred (E005)',
      ],
    },
  ],
  [
    yandex,
    400,
    (error) => ({ error, code: 3 }),
    {
      'request/length': [
        'The number of input tokens must be no more than 8000',
        'Text length is 90000, which is outside the range',
      ],
      'request/content': ['An answer on this topic cannot be generated'],
    },
  ],
];

const named = ({ kind, about }: UpstreamFault) => (about === undefined ? kind : `${kind}/${about}`);
const faultOf = ({ faultWords, faultTexts }: Plugin) =>
  createHostFault({ secrets: [], words: faultWords, texts: faultTexts });

describe('words of the vendors', () => {
  for (const [plugin, told, meanings] of COMPLAINTS) {
    for (const [meaning, codes] of Object.entries(meanings)) {
      it(`of ${plugin.name}, such as ${JSON.stringify(told(codes[0]))}, mean ${meaning}`, () => {
        const fault = faultOf(plugin);
        expect(named(fault.ofComplaint(told(999_999), true))).not.to.equal(meaning);
        for (const code of codes) expect(named(fault.ofComplaint(told(code), true)), `${code}`).to.equal(meaning);
      });
    }
  }

  it('of openai-compatible mean content of a request where its status is one of rights', () => {
    const refused = faultOf(openaiCompatible).ofReply(403, {}, JSON.stringify(inError('system_unsafe')));
    expect(named(refused)).to.equal('request/content');
  });

  for (const [plugin, status, told, meanings] of REFUSALS) {
    for (const [meaning, said] of Object.entries(meanings)) {
      it(`of ${plugin.name}, such as ${JSON.stringify(told(said[0]))}, mean ${meaning}`, () => {
        const fault = faultOf(plugin);
        const meant = (words: unknown) => named(fault.ofReply(status, {}, JSON.stringify(told(words))));
        expect(meant(message)).to.equal('request');
        for (const words of said) expect(meant(words), `${words}`).to.equal(meaning);
      });
    }
  }
});
