// Plugin for Amazon Bedrock: text of any of its models by the Converse API, signed with an access key of AWS.
import type { AnswerReader, Host, ProviderPlugin, TextCall } from '../../lib/upstream/contract/provider.ts';
import { REASONING_STYLES, STATE_FORMAT } from './reasoning.ts';
import { buildConverseBody, type Settings } from './request.ts';
import { signRequest } from './sign.ts';

const REQUEST = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  framing: 'aws-event-stream',
} as const;

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'bedrock',
  settings(joi, account) {
    const pair = joi.string().pattern(/^[^:\s]+:[^:\s]+$/, 'access key id:secret access key');
    const key = pair.meta({ secret: true });
    const apiKey = joi.alternatives(key, joi.array().items(key).min(1)).required().meta({ secret: true });
    const region = joi.string().default('us-east-1');
    const cacheMarkers = joi.valid('omit', 'send').default('omit');
    const reasoning = joi.valid(...REASONING_STYLES).default('auto');
    return account('https://bedrock-runtime.us-east-1.amazonaws.com', { apiKey, region, cacheMarkers, reasoning });
  },
  faultHeader: 'x-amzn-errortype',
  faultWords: {
    quota: 'servicequotaexceededexception',
    overloaded: 'modelnotreadyexception',
    server: 'modelstreamerrorexception internalserverexception modelerrorexception',
    timeout: 'modeltimeoutexception',
  },
  faultTexts: {
    length: /(input|prompt) is too long/i,
    missing: /model identifier is invalid|support on-demand throughput|on-demand throughput isn.t supported/i,
  },
  create(settings, host) {
    const resolveWire = host.perRoute(settings, (wire) => wire);
    return {
      tools: true,
      cacheMarkers: settings.cacheMarkers === 'send',
      toolNames: /^[a-zA-Z0-9_-]{1,64}$/,
      argumentNames: /^[a-zA-Z0-9_.-]{1,64}$/,
      stateFormat: STATE_FORMAT,
      text(call, signal) {
        const wire = resolveWire(call);
        const { baseUrl, region } = wire;
        const { model, conversation } = call;
        const url = `${baseUrl}/model/${encodeURIComponent(model)}/converse-stream`;
        const body = JSON.stringify(buildConverseBody(call, host, wire));
        const auth = (key: string) => signRequest({ key, region, url: new URL(url), body, now: host.clock.now() });
        return host.answer(url, { ...REQUEST, auth, conversation, body, signal }, createReader(host, call));
      },
    };
  },
};

export default plugin;

/** Models whose streams count in a prompt what is cached, against the documentation. */
const COUNTS_ALL = /(^|[./])openai\./;

function createReader({ fields, finishReason }: Host, { model, stops = [] }: TextCall): AnswerReader {
  /** The call that last started at each index: an index may be used again, and every start is that of another call. */
  const calls = new Map<unknown, object>();
  /** It is not said which of several ended the answer. */
  const only = stops.length === 1 ? stops[0] : undefined;
  let isEnded = false;
  return {
    take({ role, contentBlockIndex: block, start, delta, stopReason, usage }, out) {
      if (role !== undefined && isEnded) {
        out.done('another answer');
        return;
      }
      const { toolUse: call } = fields(start);
      if (call) calls.set(block, call);
      if (call) out.tool({ block: call, id: fields(call).toolUseId, name: fields(call).name });
      const { text, toolUse, reasoningContent } = fields(delta);
      if (typeof text === 'string') out.text(text, block);
      if (toolUse !== undefined) out.tool({ block: calls.get(block), json: fields(toolUse).input });
      const { text: thought, signature, redactedContent } = fields(reasoningContent);
      if (typeof thought === 'string') out.reasoning(thought, block);
      if (typeof signature === 'string') out.state({ format: STATE_FORMAT, value: signature }, block);
      if (typeof redactedContent === 'string') {
        out.reasoning('', block, { redacted: true });
        out.state({ format: STATE_FORMAT, value: redactedContent }, block);
      }
      const reason = finishReason(stopReason);
      isEnded ||= reason !== undefined;
      if (reason !== undefined)
        out.finish(reason, String(stopReason), stopReason === 'stop_sequence' ? only : undefined);
      const {
        inputTokens,
        outputTokens: output,
        cacheReadInputTokens: cacheRead,
        cacheWriteInputTokens: cacheWrite,
      } = fields(usage);
      const uncached = Number(inputTokens) - Number(cacheRead ?? 0) - Number(cacheWrite ?? 0);
      const input = COUNTS_ALL.test(model) && uncached >= 0 ? uncached : inputTokens;
      out.usage({ input, output, cacheRead, cacheWrite });
    },
  };
}
