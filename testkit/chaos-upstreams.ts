// Three upstreams in their own process, so that a busy gateway does not slow them down. The parent says which are
// healthy; the others fail, each time in another way.
import { ANSWER, FAULTS, USAGE } from './chaos-faults.ts';
import { type Behaviour, chatAnswer, startUpstream } from './upstream.ts';

export type ToUpstreams = { readonly well: readonly number[] } | 'report';

export type FromUpstreams =
  | { readonly urls: readonly string[] }
  | { readonly turned: true }
  | { readonly met: readonly (readonly [fault: string, times: number])[]; readonly answers: number };

const faults = Object.entries(FAULTS);
const met = new Map<string, number>();
let [answers, nextFault] = [0, 0];

const well: Behaviour = (call) => {
  answers += 1;
  return chatAnswer(ANSWER, USAGE)(call);
};

const failing: Behaviour = (call) => {
  const [name, behaviour] = faults[nextFault++ % faults.length] as [string, Behaviour];
  met.set(name, (met.get(name) ?? 0) + 1);
  return behaviour(call);
};

const upstreams = await Promise.all([startUpstream(failing), startUpstream(failing), startUpstream(failing)]);
const tell = (message: FromUpstreams) => process.send?.(message);

process.on('message', (message: ToUpstreams) => {
  if (message === 'report') return tell({ met: [...met], answers });
  for (const [index, upstream] of upstreams.entries()) upstream.behave(message.well.includes(index) ? well : failing);
  tell({ turned: true });
});
process.once('disconnect', () => process.exit());
tell({ urls: upstreams.map(({ url }) => url) });
