// Items of a vendor's own tools in a history. Hardly any such tool is offered here, so every model is told what happened as
// calls of functions and their results: vendors take those whatever tools a request has.

import { isRecord } from '../../../base/record.ts';
import { writeArguments } from '../../../stream/arguments.ts';
import type { ReasoningContent } from '../../../upstream/contract/provider.ts';
import { RESPONSES_FORMAT } from '../../../upstream/formats/names.ts';
import { isCompaction } from '../../../upstream/formats/responses/item.ts';
import { invalidField } from '../fields.ts';
import { describeFoundTools, isClientSearch, joinToolName, TOOL_SEARCH } from './tools.ts';

type Item = Readonly<Record<string, unknown>>;

/** Items with nothing that a model could use here. */
const LEFT_OUT =
  /^(?:(?:web_search|file_search|code_interpreter|mcp)_call|mcp_(?:list_tools|approval_\w+)|tool_search_\w+|ghost_snapshot|context_compaction)$/;

export function isLeftOut(type: string): boolean {
  return LEFT_OUT.test(type);
}

export interface VendorResult {
  /** As the content of a result. */
  readonly content: unknown;
  readonly isError: boolean;
}

export interface VendorCall {
  readonly id: unknown;
  /** The name of the field that has it. */
  readonly idName: string;
  readonly name: string;
  /** Its arguments. */
  readonly json: string;
  /** Of a call that ran at the vendor: its item has both. */
  readonly result?: VendorResult;
}

/** Undefined for an item that is no call, or says nothing. */
export function readVendorCall(item: Item): VendorCall | undefined {
  const idName = item.call_id == null ? 'id' : 'call_id';
  const named = { id: item[idName], idName };
  switch (item.type) {
    case 'shell_call':
      return { ...named, name: 'shell', json: writeFields(item.action) };
    case 'local_shell_call':
      return { ...named, name: 'local_shell', json: writeFields(item.action) };
    case 'apply_patch_call':
      return { ...named, name: 'apply_patch', json: writeFields(item.operation) };
    case 'computer_call':
      return { ...named, name: 'computer', json: writeFields(item.action ?? { actions: item.actions }) };
    case 'program':
      return { ...named, name: 'program', json: writeFields({ code: item.code }) };
    case 'tool_search_call':
      return isClientSearch(item) ? { ...named, name: TOOL_SEARCH, json: writeJson(item.arguments) } : undefined;
    default: {
      const finished = readFinishedCall(item);
      // Clients leave the ids of such items out.
      return finished && { ...named, id: named.id ?? finished.name, ...finished };
    }
  }
}

/** Those without a result have told the model nothing. */
function readFinishedCall(item: Item): Pick<VendorCall, 'name' | 'json' | 'result'> | undefined {
  switch (item.type) {
    case 'code_interpreter_call': {
      const { code, outputs } = item;
      if (typeof code !== 'string') return undefined;
      const logs = Array.isArray(outputs) ? outputs.flatMap((each) => (isRecord(each) ? (each.logs ?? []) : [])) : [];
      return { name: 'code_interpreter', json: writeFields({ code }), result: succeed(logs.join('\n')) };
    }
    case 'file_search_call': {
      const { queries, results } = item;
      if (!Array.isArray(results) || results.length === 0) return undefined;
      return { name: 'file_search', json: writeFields({ queries }), result: succeed(writeText(results)) };
    }
    case 'mcp_call': {
      const { server_label: server, name, arguments: json, output, error } = item;
      if (typeof name !== 'string' || name === '' || (output == null && error == null)) return undefined;
      return {
        name: typeof server === 'string' && server !== '' ? joinToolName(server, name) : name,
        json: writeJson(json),
        result: { content: writeText(output ?? error), isError: output == null },
      };
    }
    default:
      return undefined;
  }
}

export interface VendorOutput extends VendorResult, Pick<VendorCall, 'id' | 'idName'> {}

/** Undefined for an item that is no output of a call. */
export function readVendorOutput(item: Item): VendorOutput | undefined {
  const idName = item.call_id == null ? 'id' : 'call_id';
  const named = { id: item[idName], idName, isError: item.status === 'failed' };
  switch (item.type) {
    case 'shell_call_output':
    case 'local_shell_call_output':
    case 'apply_patch_call_output':
      return { ...named, content: writeText(item.output) };
    case 'computer_call_output':
      // A screenshot.
      return { ...named, content: isRecord(item.output) ? [{ ...item.output, type: 'input_image' }] : '' };
    case 'program_output':
      return { ...named, content: writeText(item.result) };
    case 'tool_search_output':
      return isClientSearch(item) ? { ...named, content: describeFoundTools(item.tools) } : undefined;
    default:
      return undefined;
  }
}

/** What a vendor made of earlier turns, which only it can read; undefined for an item of another type. */
export function readCompaction(item: Item, field: string): ReasoningContent | undefined {
  const { type, id, encrypted_content: encrypted } = item;
  if (!isCompaction(type) || (type === 'context_compaction' && encrypted == null)) return undefined;
  if (typeof encrypted !== 'string') throw invalidField(`${field}.encrypted_content`, 'must be a string');
  const value = JSON.stringify({ type, ...(typeof id === 'string' && { id }), encrypted_content: encrypted });
  return { type: 'reasoning', text: '', redacted: true, state: { format: RESPONSES_FORMAT, value } };
}

function succeed(content: string): VendorResult {
  return { content, isError: false };
}

function writeJson(value: unknown): string {
  return typeof value === 'string' ? value : writeFields(value);
}

function writeFields(value: unknown): string {
  return writeArguments(isRecord(value) ? value : {});
}

function writeText(value: unknown): string {
  if (value == null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
