// `npm run bench -- --profile`: where the main thread of the gateway spends a call of each load that has a goal. Time
// counts for the room that asked for it: what Node, V8 or a small helper of lib/base does, for the function that called
// them.
import type { Profiler } from 'node:inspector';
import { asked, said } from '../../testkit/talk.ts';
import { readOptions } from '../options.ts';
import { type Case, chooseCases, MODELS } from './cases.ts';
import { describeJob } from './compare.ts';
import type { LoadResult } from './load.ts';
import { OTHER_CORE, serve, start } from './process.ts';

const { quick, only = 'goals' } = readOptions({
  profile: { type: 'boolean', default: true },
  only: { type: 'string' },
  quick: { type: 'boolean', default: false },
});

const WARM_UP_ROUNDS = 3;
/** Smaller ones are one line. */
const SHARE_MIN = 0.01;

/** By the path of a function's file; the first that fits. */
const ROOMS: readonly (readonly [path: RegExp, name: string])[] = [
  [/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//, '$1'],
  [
    /\/lib\/upstream\/host\/(lenient-answer|answer-values|json-template-parser|writer)\.ts|\/lib\/upstream\/formats\//,
    'upstream events to parts',
  ],
  [/\/lib\/stream\/(bytes|lines)\.ts/, 'upstream bytes to lines'],
  [/\/lib\/stream\//, 'pipeline, guard and meter'],
  [/\/lib\/api\/dialects\//, 'dialect: request read, reply written'],
  [/\/lib\/(ledger|store|money)\//, 'ledger and messages to the store'],
  [/\/lib\/([a-z]+)\//, 'lib/$1'],
];
const HELPERS = /\/lib\/base\//;
const IDLE = 'idle';

const upstream = start('upstream.ts', [], OTHER_CORE);
const { port } = await said<{ port: number }>(upstream);
const load = start('load.ts', [], OTHER_CORE);
await said(load);
const gateway = await serve('gateway.ts', [`http://127.0.0.1:${port}`, ...MODELS]);
for (const test of chooseCases({ only, quick })) await report(test);
for (const { child } of [gateway, { child: load }, { child: upstream }]) child.disconnect();

async function report(test: Case): Promise<void> {
  const run = () => asked<LoadResult>(load, describeJob(gateway, test));
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await run();
  await asked(gateway.child, 'startProfile');
  await run();
  const profile = await asked<Profiler.Profile>(gateway.child, 'stopProfile');
  const shares = sumByRoom(profile);
  const busy = [...shares.values()].reduce((sum, us) => sum + us, 0);
  console.log(`\n${test.name}: ${(busy / test.calls).toFixed(0)} µs of the main thread a call`);
  const small = [...shares].filter(([, us]) => us < SHARE_MIN * busy);
  const lines = [...shares].filter(([, us]) => us >= SHARE_MIN * busy).sort(([, a], [, b]) => b - a);
  const rest = small.reduce((sum, [, us]) => sum + us, 0);
  for (const [name, us] of [...lines, ['the rest', rest] as const]) {
    console.log(
      `  ${name.padEnd(42)}${((100 * us) / busy).toFixed(1).padStart(5)} %${(us / test.calls).toFixed(1).padStart(8)} µs`,
    );
  }
}

/** Microseconds of work by room. */
function sumByRoom({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const rooms = new Map<number, string>();
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const name = (node: Profiler.ProfileNode, caller: string): void => {
    const room = nameRoom(node.callFrame) ?? caller;
    rooms.set(node.id, room);
    for (const child of node.children ?? []) name(nodeById.get(child) as Profiler.ProfileNode, room);
  };
  if (nodes[0]) name(nodes[0], 'Node by itself');
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const room = rooms.get(id);
    if (room === undefined || room === IDLE) continue;
    sums.set(room, (sums.get(room) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return sums;
}

/** Undefined for what works for its caller. */
function nameRoom({ functionName, url }: Profiler.ProfileNode['callFrame']): string | undefined {
  // The start of the profile is in it.
  if (functionName === '(idle)' || url === 'node:inspector') return IDLE;
  if (functionName === '(garbage collector)') return 'garbage collector';
  if (url === '' || url.startsWith('node:') || HELPERS.test(url)) return undefined;
  for (const [path, name] of ROOMS) {
    const found = path.exec(url);
    if (found) return name.replace('$1', found[1] ?? '');
  }
  return undefined;
}
