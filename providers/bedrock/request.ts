// The body of a Converse request: messages of blocks, each with one field that names what it is.
import { Buffer } from 'node:buffer';
import type { Content, Host, Sampling, TextCall, Tools } from '../../lib/upstream/contract/provider.ts';

export const STATE_FORMAT = 'converse';

export function buildConverseBody(call: TextCall, host: Host): object {
  const { system, messages, maxTokens, tools, stops, sampling } = call;
  return {
    ...(system && { system: system.map(({ text }) => ({ text })) }),
    messages: messages.map(({ role, content }) => ({
      role,
      content: content.flatMap((part) => buildBlock(part, host)),
    })),
    inferenceConfig: {
      maxTokens,
      ...(stops && { stopSequences: stops.slice(0, 4) }),
      ...(sampling && buildSampling(sampling)),
    },
    ...(tools && tools.choice !== 'none' && { toolConfig: buildToolConfig(tools) }),
  };
}

/** Others are fields of some models only. Models of one vendor refuse both together. */
function buildSampling({ temperature, topP }: Sampling): object {
  if (temperature !== undefined) return { temperature: Math.min(temperature, 1) };
  return topP === undefined ? {} : { topP };
}

function buildBlock(part: Content, host: Host): object[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }];
    case 'image': {
      const bytes = Buffer.from(part.bytes).toString('base64');
      return [{ image: { format: part.mediaType.slice('image/'.length), source: { bytes } } }];
    }
    case 'tool-call':
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: host.argumentsOf(part.json) } }];
    case 'tool-result': {
      const content = part.content.flatMap((each) => buildBlock(each, host));
      return [{ toolResult: { toolUseId: part.id, content, status: part.isError ? 'error' : 'success' } }];
    }
    case 'reasoning': {
      if (part.state?.format !== STATE_FORMAT) return [];
      const { value } = part.state;
      const reasoningText = { text: part.text, signature: value };
      return [{ reasoningContent: part.redacted ? { redactedContent: value } : { reasoningText } }];
    }
    default:
      return [];
  }
}

function buildToolConfig({ list, choice = 'auto' }: Tools): object {
  const toolChoice = typeof choice === 'string' ? { [choice]: {} } : { tool: { name: choice.name } };
  const specs = list.map(({ name, description, schema }) => ({ name, description, inputSchema: { json: schema } }));
  return { tools: specs.map((toolSpec) => ({ toolSpec })), toolChoice };
}
