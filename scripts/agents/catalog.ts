// The scripted models of agents as a catalog sells them: one for each wire format of the scripted upstream.
import type { WireName } from './program.ts';

/** Micro-roubles a token, which are roubles for a million of them. */
export interface ScriptedPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** `agent-messages`, `agent-chat` and `agent-responses`, from the upstream at this address. */
export function describeScriptedModels(url: string, price: ScriptedPrice, apiKey: string | readonly string[]): object {
  const roubles = Object.fromEntries(Object.entries(price).map(([name, micro]) => [name, `${micro}`]));
  const describeUpstream = (plugin: string, baseUrl: string, more: object = {}) => ({
    plugin,
    settings: { baseUrl, apiKey, ...more },
  });
  const describeModel = (wire: WireName) => ({
    id: `agent-${wire}`,
    type: 'text',
    provider: 'Scripted',
    routes: [{ upstream: wire, model: `agent-${wire}` }],
    price: roubles,
    context: 200_000,
    tools: true,
    vision: true,
    documents: true,
    json: true,
    reasoning: true,
  });
  return {
    upstreams: {
      messages: describeUpstream('anthropic', url),
      chat: describeUpstream('openai-compatible', `${url}/v1`, {
        cacheKey: 'send',
        toolReasoning: 'blank',
        systemMessages: 'in_place',
      }),
      responses: describeUpstream('openai-responses', `${url}/v1`),
    },
    models: [describeModel('messages'), describeModel('chat'), describeModel('responses')],
  };
}
