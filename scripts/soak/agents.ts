// The agents of a soak, in a process of their own with the model that they talk to: sessions in all dialects, again and
// again, until the time is over. Each message is a round, answered by what it did.
import { callTool, findTool, type Job, RUN } from '../agents/job.ts';
import { startAgentUpstream } from '../agents/upstream.ts';
import { SESSIONS, type Session, type SessionResult } from './sessions.ts';

export interface AgentsJob {
  readonly url: string;
  readonly key: string;
  readonly seconds: number;
  /** Sessions at once in each dialect. */
  readonly atOnce: number;
}

export interface AgentsResult extends SessionResult {
  /** Reasoning that the model wanted back, and how much of it came back. */
  readonly thoughtsDue: number;
  readonly thoughtsBack: number;
  /** Why sessions failed, the first few. */
  readonly failures: readonly string[];
}

const STEPS = 8;
/** Of so many sessions one is left in the middle. */
const LEAVES_EVERY = 7;
const FAILURES_MAX = 5;

const job: Job = {
  prompt: '',
  closing: 'Done.',
  write: () => undefined,
  nextCall: ({ tools, calls }, { steps }) =>
    calls < steps ? callTool(findTool(tools, RUN), { command: `node test.js # ${calls}` }) : undefined,
  say: () => 'Done.',
  isDone: () => true,
};

const upstream = await startAgentUpstream();

async function runRound({ url, key, seconds, atOnce }: AgentsJob): Promise<AgentsResult> {
  upstream.begin(job, { folder: '', steps: STEPS, thinkSeconds: 0 });
  const until = performance.now() + seconds * 1000;
  const failures: string[] = [];
  let [calls, cached, begun] = [0, 0, 0];
  const repeat = async (session: Session) => {
    while (performance.now() < until) {
      begun += 1;
      const leavesAt = begun % LEAVES_EVERY === 0 ? begun % STEPS : undefined;
      try {
        const done = await session({ url, key, leavesAt });
        calls += done.calls;
        cached += done.cached;
      } catch (error) {
        failures.push(`${session.name}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(SESSIONS.flatMap((session) => Array.from({ length: atOnce }, () => repeat(session))));
  const { thoughtsDue, thoughtsBack } = upstream.tally();
  return { calls, cached, thoughtsDue, thoughtsBack, failures: failures.slice(0, FAILURES_MAX) };
}

process.on('message', async (round: AgentsJob) => process.send?.(await runRound(round)));
process.on('disconnect', () => process.exit(0));
process.send?.({ upstream: upstream.url });
