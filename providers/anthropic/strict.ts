// How much of strict schemas the vendor takes in one request. Others have no such limits, so clients mark all their tools.
import type { Host, JsonObject, TextCall } from '../../lib/upstream/contract/provider.ts';

const TOOLS_MAX = 20;
const OPTIONAL_MAX = 24;
const UNIONS_MAX = 16;

/** If there is more, no tool is strict. The form of an answer counts, too. */
export function writeStrictTools(call: TextCall, { closeSchema }: Pick<Host, 'closeSchema'>): TextCall {
  const { tools, format } = call;
  const marked = tools?.list.filter((tool) => tool.strict) ?? [];
  if (!tools || marked.length === 0) return call;
  const forms = format?.type === 'json-schema' ? [...marked, format] : marked;
  const found = forms.flatMap(({ schema }) => listProperties(schema));
  const count = (kind: 'isOptional' | 'isUnion') => found.filter((property) => property[kind]).length;
  const isWithin = marked.length <= TOOLS_MAX && count('isOptional') <= OPTIONAL_MAX && count('isUnion') <= UNIONS_MAX;
  const list = tools.list.map(({ strict, ...tool }) => {
    if (!strict) return { ...tool, ...(strict === false && { strict }) };
    return isWithin ? { ...tool, strict, schema: closeSchema(tool.schema) } : tool;
  });
  return { ...call, tools: { ...tools, list } };
}

/** All within a schema: whether they may be left out, and whether they may have several types. */
function listProperties(schema: unknown): readonly { readonly isOptional: boolean; readonly isUnion: boolean }[] {
  if (!isObject(schema)) return [];
  const { properties, required, $defs, items, anyOf, oneOf, allOf } = schema;
  const own = Object.entries(isObject(properties) ? properties : {}).map(([name, value]) => ({
    isOptional: !Array.isArray(required) || !required.includes(name),
    isUnion: isObject(value) && [value.anyOf, value.oneOf, value.type].some(Array.isArray),
  }));
  const named = [properties, $defs].flatMap((each) => (isObject(each) ? Object.values(each) : []));
  return [...own, ...[...named, items, anyOf, oneOf, allOf].flat().flatMap(listProperties)];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
