// Settings of YandexGPT, and the request for one text call.
import type {
  AccountSettings,
  Host,
  OutputFormat,
  TextCall,
  TextMessage,
  ToolResultContent,
  Tools,
} from '../../lib/upstream/contract/provider.ts';

export interface Settings extends AccountSettings {
  /** The origin alone. */
  readonly baseUrl: string;
  /** The folder that is billed: models are named within it. */
  readonly folder: string;
}

/** A model is `yandexgpt/latest`; a tuned one is named by its full URI. The models see no images. */
export function buildYandexBody(call: TextCall, folder: string, host: Host): string {
  const { model, system, messages, maxTokens, tools, format, reasoning, sampling } = call;
  const { temperature } = sampling ?? {};
  const first = system ? [{ role: 'system', text: host.textOf(system) }] : [];
  const mode = reasoning?.mode === 'off' ? 'DISABLED' : 'ENABLED_HIDDEN';
  const calls = messages.flatMap(({ content }) => content.filter((part) => part.type === 'tool-call'));
  const order = new Map(calls.map(({ id }, at) => [id, at]));
  return JSON.stringify({
    modelUri: model.includes('://') ? model : `gpt://${folder}/${model}`,
    // As text, like every 64-bit number of this API.
    completionOptions: {
      stream: true,
      maxTokens: `${maxTokens}`,
      ...(reasoning && { reasoningOptions: { mode } }),
      ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    },
    messages: [...first, ...messages.flatMap((message) => writeMessage(message, order, host))],
    ...(tools && writeTools(tools)),
    ...(format && writeFormat(format)),
  });
}

/** The places of calls by id. */
type CallOrder = ReadonlyMap<string, number>;

/** A message is a text, a list of calls, or one of results, in the order of the calls: nothing else identifies them. */
function writeMessage({ role, content }: TextMessage, order: CallOrder, host: Host): readonly object[] {
  const text = host.textOf(content);
  const calls = content.filter((part) => part.type === 'tool-call');
  const results = content
    .filter((part) => part.type === 'tool-result')
    .toSorted((one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0));
  const toolCalls = calls.map(({ name, json }) => ({ functionCall: { name, arguments: host.argumentsOf(json) } }));
  const toolResults = results.map((result) => writeResult(result, host));
  return [
    ...(toolResults.length > 0 ? [{ role, toolResultList: { toolResults } }] : []),
    ...(text !== '' ? [{ role, text }] : []),
    ...(toolCalls.length > 0 ? [{ role, toolCallList: { toolCalls } }] : []),
  ];
}

/** The format has no field for errors, so the text says it. */
function writeResult({ name, isError, content }: ToolResultContent, { textOf }: Host): object {
  const text = textOf(content);
  return { functionResult: { name, content: isError ? `Error: ${text}` : text } };
}

function writeTools({ list, choice, single }: Tools): object {
  return {
    tools: list.map(({ name, description, schema, strict }) => ({
      function: { name, description, parameters: schema, strict },
    })),
    ...(choice !== undefined && { toolChoice: writeToolChoice(choice) }),
    ...(single && { parallelToolCalls: false }),
  };
}

const MODES = { auto: 'AUTO', none: 'NONE', any: 'REQUIRED' } as const;

function writeToolChoice(choice: NonNullable<Tools['choice']>): object {
  return typeof choice === 'object' ? { functionName: choice.name } : { mode: MODES[choice] };
}

function writeFormat(format: OutputFormat): object {
  return format.type === 'json' ? { jsonObject: true } : { jsonSchema: { schema: format.schema } };
}
