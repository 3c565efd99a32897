// Tools that system messages add to a conversation, or take from it: a model is told those that there are at its end.
import { isRecord } from '../../../base/record.ts';
import type { PlacedTool } from '../tools.ts';

type Fields = Readonly<Record<string, unknown>>;

interface ChangedTools {
  readonly tools: readonly unknown[];
  /** The place of each; absent where nothing changes. */
  readonly fields?: readonly string[];
}

/** Blocks `tool_addition` and `tool_removal`; what has another shape is left out, like other unknown blocks. */
export function changeTools(tools: readonly unknown[], messages: readonly unknown[]): ChangedTools {
  const given = tools.map((tool, at) => ({ tool, field: `tools[${at}]` }));
  const known = new Map(given.map((placed) => [readName(placed.tool), placed]));
  const offered = new OfferedTools(given);
  for (const { type, tool, field } of listChanges(messages)) {
    const name = readName(tool.type === DEFINITION ? tool.definition : tool);
    if (type === 'tool_removal') offered.remove(name);
    else {
      if (tool.type === DEFINITION) known.set(name, { tool: tool.definition, field: `${field}.tool.definition` });
      const added = known.get(name);
      if (added) offered.replace(name, { ...added, tool: withoutDeferral(added.tool) });
    }
  }
  if (!offered.hasChanged) return { tools };
  const left = offered.list();
  return { tools: left.map(({ tool }) => tool), fields: left.map(({ field }) => field) };
}

/** In order, and found by name: a body has room for tens of thousands, and for as many changes. */
class OfferedTools {
  hasChanged = false;
  readonly #tools: Set<PlacedTool>;
  /** More than one of a name is refused later. */
  readonly #byName: Map<unknown, PlacedTool[]>;

  constructor(given: readonly PlacedTool[]) {
    this.#tools = new Set(given);
    this.#byName = Map.groupBy(given, ({ tool }) => readName(tool));
  }

  remove(name: unknown): void {
    this.hasChanged = true;
    for (const placed of this.#byName.get(name) ?? []) this.#tools.delete(placed);
    this.#byName.delete(name);
  }

  /** Puts the tool at the end. */
  replace(name: unknown, placed: PlacedTool): void {
    this.remove(name);
    this.#tools.add(placed);
    this.#byName.set(name, [placed]);
  }

  list(): readonly PlacedTool[] {
    return [...this.#tools];
  }
}

/** An added tool that comes with the change; others are named. */
const DEFINITION = 'tool_definition';
const CHANGES: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal']);

interface ToolChange {
  readonly type: unknown;
  readonly tool: Fields;
  readonly field: string;
}

function* listChanges(messages: readonly unknown[]): Iterable<ToolChange> {
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message) || message.role !== 'system' || !Array.isArray(message.content)) continue;
    for (const [within, block] of message.content.entries()) {
      if (!isRecord(block) || !CHANGES.has(block.type) || !isRecord(block.tool)) continue;
      const { type, tool } = block;
      if (readName(tool.type === DEFINITION ? tool.definition : tool) === undefined) continue;
      yield { type, tool, field: `messages[${at}].content[${within}]` };
    }
  }
}

function readName(tool: unknown): unknown {
  return isRecord(tool) ? tool.name : undefined;
}

/** It is known to the model from now on. */
function withoutDeferral(tool: unknown): unknown {
  if (!isRecord(tool)) return tool;
  const { defer_loading: _, ...rest } = tool;
  return rest;
}
