// What the objects of a process take, by kind: a snapshot of its heap, summed.
import { json } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';

/** Bytes and number of objects of each kind. */
export type Kinds = Readonly<Record<string, readonly [bytes: number, count: number]>>;

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: readonly string[]; readonly node_types: [string[]] } };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** By V8's type, where the name says nothing or differs for each object. */
const KINDS: Readonly<Record<string, string>> = {
  array: 'elements and fields of objects',
  closure: 'functions',
  code: 'code',
  number: 'numbers',
  string: 'texts',
  'concatenated string': 'texts',
  'sliced string': 'texts',
  'object shape': 'shapes',
};

export async function heapByKind(): Promise<Kinds> {
  const { snapshot, nodes, strings } = (await json(getHeapSnapshot())) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const sums: Record<string, [number, number]> = Object.create(null);
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = KINDS[types[0][nodes[at + type] as number] ?? ''] ?? strings[nodes[at + name] as number] ?? '';
    sums[kind] ??= [0, 0];
    const sum = sums[kind];
    sum[0] += nodes[at + size] as number;
    sum[1] += 1;
  }
  return sums;
}
