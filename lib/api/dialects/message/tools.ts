// The tools and `tool_choice` of a message-style request.
import Joi from 'joi';
import { choice, object, text } from '../../../base/json-schema.ts';
import { isRecord } from '../../../base/record.ts';
import type { RequestTools } from '../../../calls/text/request.ts';
import type { Tools } from '../../../upstream/contract/provider.ts';
import { MESSAGE_TOOL } from '../../../upstream/formats/tools.ts';
import { documentAs, invalidField, optional } from '../fields.ts';
import { messageTool, readTools, toolsField } from '../tools.ts';
import { changeTools } from './tool-changes.ts';

/** As written; messages may change the tools. */
export interface MessageToolFields {
  readonly tools?: readonly unknown[] | null;
  readonly tool_choice?: unknown;
  readonly messages: readonly unknown[];
}

export function readMessageTools({ tools, messages, tool_choice: given }: MessageToolFields): RequestTools | undefined {
  const { type, name, disable_parallel_tool_use: single } = isRecord(given) ? given : {};
  if (single != null && typeof single !== 'boolean') {
    throw invalidField('tool_choice.disable_parallel_tool_use', 'must be a boolean, true or false');
  }
  const choiceField = 'tool_choice.name';
  const chosen = given == null ? undefined : readMessageToolChoice(type, name);
  const changed = changeTools(tools ?? [], messages);
  return readTools({ ...changed, shape: MESSAGE_TOOL, choice: chosen, choiceField, single: single === true });
}

function readMessageToolChoice(type: unknown, name: unknown): NonNullable<Tools['choice']> {
  if (type === 'auto' || type === 'any' || type === 'none') return type;
  if (type !== 'tool') throw invalidField('tool_choice.type', 'must be auto, any, tool or none');
  if (typeof name !== 'string') throw invalidField('tool_choice.name', 'must be a string');
  return { name };
}

export const messageToolFields = {
  tools: toolsField(messageTool),
  tool_choice: optional(
    documentAs(Joi.object().unknown(), {
      ...object(
        {
          type: choice(['auto', 'any', 'tool', 'none']),
          name: text('The tool that must be called; for `tool`.'),
          disable_parallel_tool_use: {
            type: 'boolean',
            description: 'If true, at most one tool call per response; additional calls are dropped.',
          },
        },
        { optional: ['name', 'disable_parallel_tool_use'] },
      ),
      description: '`any` and `tool` demand a call, and are refused for a model without tools.',
    }),
    'must be an object',
  ),
};
