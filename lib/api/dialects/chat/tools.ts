// The tools of a chat-style request, and its choice between them.
import type { Tools } from '../../../plugin/contract.ts';
import type { RequestTools } from '../../../text/request.ts';
import { CHAT_TOOL } from '../../../wire/tools.ts';
import { choice, constant, object, text } from '../../openapi/schema.ts';
import { type FieldRules, invalidField, isRecord } from '../fields.ts';
import type { TextFields } from '../text-fields.ts';
import { chatTool, readTools, toolsRule } from '../tools.ts';

export function readChatTools({
  tools,
  tool_choice: given,
  parallel_tool_calls: parallel,
}: TextFields): RequestTools | undefined {
  const chosen = given == null ? undefined : choiceOf(given);
  const choiceField = 'tool_choice.function.name';
  return readTools({ tools, shape: CHAT_TOOL, choice: chosen, choiceField, single: parallel === false });
}

const CHOICES: readonly unknown[] = ['none', 'auto', 'required'];

function choiceOf(given: unknown): NonNullable<Tools['choice']> {
  if (given === 'auto' || given === 'none') return given;
  if (given === 'required') return 'any';
  if (!isRecord(given)) throw invalidField('tool_choice', 'must be none, auto, required or an object');
  if (given.type !== 'function') throw invalidField('tool_choice.type', 'must be function');
  const { name } = isRecord(given.function) ? given.function : {};
  if (typeof name !== 'string') throw invalidField('tool_choice.function.name', 'must be a string');
  return { name };
}

export const chatToolRules: FieldRules = {
  tools: toolsRule(chatTool),
  tool_choice: {
    required: false,
    accepts: (value) => CHOICES.includes(value) || isRecord(value),
    hint: 'must be none, auto, required or an object',
    schema: {
      description: '`required` and the name of a tool demand a call, and are refused for a model without tools.',
      anyOf: [
        choice(['none', 'auto', 'required']),
        object({ type: constant('function'), function: object({ name: text('The tool that has to be called.') }) }),
      ],
    },
  },
  parallel_tool_calls: {
    required: false,
    accepts: (value) => typeof value === 'boolean',
    hint: 'must be a boolean, true or false',
    schema: {
      type: 'boolean',
      description: 'False for at most one call an answer: further ones are dropped.',
      default: true,
    },
  },
};
