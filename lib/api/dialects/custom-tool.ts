// A tool whose input is plain text, as models see it: a function with one argument, which works with every vendor.
import { isRecord } from './fields.ts';

/** The only argument. */
export const CUSTOM_INPUT = 'input';

/** `format` is `{ type: "text" }`, or `{ type: "grammar", syntax, definition }`. */
type CustomTool = Readonly<Record<string, unknown>>;

/** A grammar becomes part of the description. */
export function describeCustomTool({ name, description, format }: CustomTool) {
  const { type, syntax, definition } = isRecord(format) ? format : {};
  const grammar = type === 'grammar' ? `The input follows this ${syntax} grammar:\n\n${definition}` : undefined;
  const told = grammar === undefined ? description : [description, grammar].filter(Boolean).join('\n\n');
  const input = { type: 'string', description: 'The input of the tool, as plain text.' };
  const parameters = { type: 'object', properties: { [CUSTOM_INPUT]: input }, required: [CUSTOM_INPUT] };
  return { name, description: told, parameters };
}

/** The arguments of a call with this input. */
export function writeCustomArguments(input: string): string {
  return JSON.stringify({ [CUSTOM_INPUT]: input });
}
