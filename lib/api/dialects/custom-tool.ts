// A tool whose input is plain text: as a function with one argument, which works with every vendor, and as it is.

import { isRecord } from '../../base/record.ts';
import type { CustomTool } from '../../upstream/contract/provider.ts';
import { CUSTOM_INPUT } from '../../upstream/formats/tools.ts';

/** `format` is `{ type: "text" }`, or `{ type: "grammar", syntax, definition }`. */
type WireTool = Readonly<Record<string, unknown>>;

/** For vendors that know such tools; nothing is passed on that does not count as text. */
export function readCustomTool({ description, format }: WireTool): CustomTool {
  const read = readFormat(format);
  return { ...(typeof description === 'string' && { description }), ...(read && { format: read }) };
}

function readFormat(format: unknown): CustomTool['format'] {
  const { type, syntax, definition } = isRecord(format) ? format : {};
  if (type === 'text') return { type };
  if (type !== 'grammar' || typeof syntax !== 'string' || typeof definition !== 'string') return undefined;
  return { type, syntax, definition };
}

/** A grammar becomes part of the description. */
export function describeCustomTool({ name, description, format }: WireTool) {
  const read = readFormat(format);
  const grammar = read?.type === 'grammar' && `The input follows this ${read.syntax} grammar:\n\n${read.definition}`;
  // A description of another type is refused with the rest of the function.
  const isText = typeof description === 'string' || description == null;
  const told = grammar && isText ? [description, grammar].filter(Boolean).join('\n\n') : description;
  const input = { type: 'string', description: 'The input of the tool, as plain text.' };
  const parameters = { type: 'object', properties: { [CUSTOM_INPUT]: input }, required: [CUSTOM_INPUT] };
  return { name, description: told, parameters };
}

/** The arguments of a call with this input. */
export function writeCustomArguments(input: string): string {
  return JSON.stringify({ [CUSTOM_INPUT]: input });
}
