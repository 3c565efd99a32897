// An MCP server with many tools, of which one rings a bell: what a tool search searches. It speaks JSON lines.
import { createInterface } from 'node:readline';

export const BELL = 'ring_bell';
export const RANG = 'It rang three times.';

const OTHERS = 40;

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) answer(JSON.parse(line));
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

function answer({ id, method, params = {} }: Message): void {
  if (id === undefined) return;
  const result = describe(method, params);
  const error = { code: -32601, message: `There is no ${method}.` };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })}\n`);
}

function describe(
  method: string | undefined,
  { protocolVersion, name }: NonNullable<Message['params']>,
): object | undefined {
  switch (method) {
    case 'initialize':
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'desk', version: '1' } };
    case 'tools/list':
      return { tools: listTools() };
    case 'tools/call':
      return { content: [{ type: 'text', text: name === BELL ? RANG : 'Nothing happens.' }] };
    case 'ping':
      return {};
    default:
      return undefined;
  }
}

function listTools(): readonly object[] {
  const inputSchema = { type: 'object', properties: {} };
  const others = Array.from({ length: OTHERS }, (_, at) => ({
    name: `open_drawer_${at + 1}`,
    description: `Opens drawer ${at + 1} of the front desk, if it is not locked.`,
    inputSchema,
  }));
  return [...others, { name: BELL, description: 'Rings the bell of the front desk.', inputSchema }];
}
