// Where the main thread of a process spends its time: a sampling profile, summed by module or package.
import { type Profiler, Session } from 'node:inspector/promises';

/** Self time in µs, by module; and by function, for Node's own. */
export interface Profile {
  readonly parts: Readonly<Record<string, number>>;
  readonly node: Readonly<Record<string, number>>;
}

const INTERVAL_US = 200;
const NODE = 'Node';
const IDLE = '(idle)';
const PARTS: readonly (readonly [RegExp, string | undefined])[] = [
  [/^node:/, NODE],
  [/\/node_modules\/(@hapi\/[^/]+|[^/@]+|@[^/]+\/[^/]+)\//, undefined],
  [/\/(lib\/[^/]+)\//, undefined],
  [/\/(providers)\//, undefined],
  [/\/lib\/[^/]+\.ts$/, 'lib'],
];

let session: Session | undefined;

export async function startProfile(): Promise<object> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  await session.post('Profiler.start');
  return {};
}

export async function endProfile(): Promise<Profile> {
  if (!session) throw new Error('no profile was started');
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return addUp(profile);
}

function addUp({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Profile {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const name = (node: Profiler.ProfileNode, parent: string) => {
    const part = partOf(node.callFrame, parent);
    parts.set(node.id, part);
    for (const id of node.children ?? []) name(byId.get(id) as Profiler.ProfileNode, part);
  };
  name(nodes[0] as Profiler.ProfileNode, NODE);
  const sums = { parts: {} as Record<string, number>, node: {} as Record<string, number> };
  for (const [at, id] of samples.entries()) {
    const part = parts.get(id) ?? '';
    const us = timeDeltas[at] ?? 0;
    sums.parts[part] = (sums.parts[part] ?? 0) + us;
    if (part !== NODE) continue;
    const { functionName, url } = (byId.get(id) as Profiler.ProfileNode).callFrame;
    const title = `${functionName || 'anonymous'} ${url}`.trim();
    sums.node[title] = (sums.node[title] ?? 0) + us;
  }
  delete sums.parts[IDLE];
  return sums;
}

/** Builtins have no file: their time counts for their callers. */
function partOf({ functionName, url }: Profiler.ProfileNode['callFrame'], parent: string): string {
  if (functionName === '(garbage collector)') return 'collecting garbage';
  if (functionName === '(program)') return 'native, system calls';
  if (functionName === '(idle)' || url === 'node:inspector') return IDLE;
  for (const [pattern, part] of PARTS) {
    const [found, inner] = pattern.exec(url) ?? [];
    if (found !== undefined) return part ?? (inner?.startsWith('@hapi') ? 'hapi' : (inner ?? ''));
  }
  return url === '' ? parent : 'the rest';
}
