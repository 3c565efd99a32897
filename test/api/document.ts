// The API document for tests: checks every reply against it, and refuses extra properties.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Reply } from '../../testkit/client.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
export type Json = any;

export interface ApiDocument {
  readonly json: Json;
  /** The operations as `GET /path`. */
  readonly operations: readonly string[];
  /** Statuses that an operation documents. */
  statusesOf(operation: string): readonly string[];
  /** The object that a `$ref` stands for. */
  resolve(node: Json): Json;
  /** Throws unless the value matches the schema at a JSON pointer, extra keys not allowed. */
  check(pointer: string, value: unknown): void;
  /** Throws unless status, headers, media type and body are as documented; returns the reply. */
  checkReply(operation: string, reply: Reply): Reply;
}

export const pointerOf = (...names: readonly string[]): string =>
  names.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

/** `open` lets objects have keys that the document does not name, as requests may. */
export function readDocument(json: Json, { open = false } = {}): ApiDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('date-time', (text) => /T.*Z$/.test(text) && !Number.isNaN(Date.parse(text)));
  ajv.addSchema({ ...(open ? json : close(json)), $id: 'api' });
  const operations = Object.entries<Json>(json.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );

  function resolve(node: Json): Json {
    if (node?.$ref === undefined) return node;
    const names: string[] = node.$ref.slice(2).split('/');
    return names.reduce((at, name) => at[name], json);
  }

  function check(pointer: string, value: unknown): void {
    const validate = ajv.getSchema(`api#${pointer}`) as ValidateFunction | undefined;
    if (!validate) throw new Error(`there is no schema at ${pointer}`);
    if (validate(value)) return;
    throw new Error(`${pointer}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
  }

  function operationOf(operation: string): { node: Json; pointer: string } {
    const [method = '', path = ''] = operation.split(' ');
    const name = method.toLowerCase();
    return { node: json.paths[path][name], pointer: pointerOf('paths', path, name) };
  }

  function checkReply(operation: string, reply: Reply): Reply {
    const { node, pointer } = operationOf(operation);
    const written = node.responses[reply.status];
    if (!written) throw new Error(`${operation} does not document ${reply.status}: ${reply.text}`);
    const response = resolve(written);
    const base = written.$ref ? written.$ref.slice(1) : pointer + pointerOf('responses', String(reply.status));
    checkHeaders(response.headers, reply);
    const mediaType = String(reply.headers['content-type']).split(';')[0] as string;
    if (!response.content[mediaType]) throw new Error(`${operation} ${reply.status} does not document ${mediaType}`);
    const schema = base + pointerOf('content', mediaType, 'schema');
    if (mediaType !== 'text/event-stream') check(schema, reply.json);
    else for (const { data } of eventsIn(reply.text)) check(schema, data);
    return reply;
  }

  function checkHeaders(documented: Json, reply: Reply): void {
    for (const [name, written] of Object.entries<Json>(documented)) {
      const { required, schema } = resolve(written);
      const value = reply.headers[name];
      if (value === undefined && required) throw new Error(`${name} is missing`);
      if (value === undefined) continue;
      const typed = schema.type === 'integer' ? Number(value) : value;
      if (!ajv.validate(schema, typed)) throw new Error(`${name}: ${value}`);
    }
  }

  return {
    json,
    operations,
    statusesOf: (operation) => Object.keys(operationOf(operation).node.responses),
    resolve,
    check,
    checkReply,
  };
}

function eventsIn(text: string): readonly { readonly data: unknown }[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => {
    const data = line.slice('data: '.length);
    return { data: data === '[DONE]' ? data : JSON.parse(data) };
  });
}

/** The document with every described object closed: a key that it does not name is then an error. */
function close(node: Json): Json {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]));
  if (node.type === 'object' && node.properties) closed.additionalProperties = node.additionalProperties ?? false;
  return closed;
}
