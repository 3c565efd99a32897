// The scripted upstream of `npm run agents`: a model that does the job with the tools of whoever asks, thinks before each
// step, caches prompts and counts tokens, in three wire formats.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Counted, countTokens, PromptCache, type PromptCounts } from '../../testkit/prompt-cache.ts';
import { type AskedModel, canDoJob, type Job, type JobRun } from './job.ts';
import type { Answer, Json, Turn, Wire } from './turn.ts';
import { chat } from './wire-chat.ts';
import { messages } from './wire-messages.ts';
import { responses } from './wire-responses.ts';

const WIRES: readonly Wire[] = [messages, chat, responses];

/** What the upstream has counted. */
export interface Tally {
  readonly calls: readonly Counted[];
  /** Reasoning that the vendor needs back, and how much of it came back. */
  readonly thoughtsDue: number;
  readonly thoughtsBack: number;
}

interface AgentUpstream {
  readonly url: string;
  /** Starts counting anew. */
  begin(job: Job, run: JobRun): void;
  tally(): Tally;
  close(): Promise<void>;
}

export async function startAgentUpstream(): Promise<AgentUpstream> {
  /** By key, as vendors have them. */
  let caches = new Map<string, PromptCache>();
  let doing: { readonly job: Job; readonly run: JobRun } | undefined;
  let calls: Counted[] = [];
  let thoughtsDue = 0;
  let thoughtsBack = 0;

  function count(key: string, prompt: Turn['prompt']): PromptCounts {
    const cache = caches.get(key) ?? new PromptCache();
    caches.set(key, cache);
    return typeof prompt === 'string' ? cache.countAutomatic(prompt) : cache.countMarked(prompt);
  }

  function answer(key: string, body: Json, turn: Turn): Answer {
    if (!doing) throw new Error('no job has begun');
    const { job, run } = doing;
    const counts = count(key, turn.prompt);
    const id = `${calls.length + 1}`.padStart(6, '0');
    const isJob = canDoJob(turn.tools);
    const asked: AskedModel = { ...turn, files: countFiles(body), text: JSON.stringify(turn.prompt) };
    const call = isJob ? job.nextCall(asked, run) : undefined;
    const thought = isJob && turn.thinks ? think(turn.calls, run) : undefined;
    const said = job.say(asked);
    const reasoning = countTokens(thought ?? '');
    const output = reasoning + countTokens(call?.input ?? said);
    calls.push({ ...counts, output });
    if (isJob && turn.thinks) {
      thoughtsDue += turn.calls;
      thoughtsBack += turn.thoughtsBack;
    }
    return { id, model: String(body.model), thought, text: call ? undefined : said, call, counts, output, reasoning };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?')[0];
    const wire = WIRES.find((each) => path === each.path);
    if (!wire || request.method !== 'POST') {
      const models = { object: 'list', data: [] };
      response.writeHead(path === '/v1/models' ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(path === '/v1/models' ? models : { error: { message: `no ${path}` } }));
      return;
    }
    const body = JSON.parse(await text(request)) as Json;
    const { authorization, 'x-api-key': apiKey } = request.headers;
    const turn = wire.read(body);
    const answered = answer(String(apiKey ?? authorization), body, turn);
    if (turn.isStream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const isSlow = turn.calls === 0 && doing !== undefined && doing.run.thinkSeconds > 0;
      for (const event of wire.stream(answered)) {
        if (isSlow && IS_THOUGHT.test(JSON.stringify(event))) await sleep(1000);
        response.write(writeEvent(event));
      }
      response.end();
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.write(answered)));
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      process.stderr.write(`the scripted upstream failed: ${error.stack}\n`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begin(job, run) {
      doing = { job, run };
      caches = new Map();
      calls = [];
      thoughtsDue = 0;
      thoughtsBack = 0;
    },
    tally: () => ({ calls, thoughtsDue, thoughtsBack }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An event with a piece of reasoning, in any format. */
const IS_THOUGHT = /thinking_delta|"reasoning_content"|reasoning_summary_text\.delta/;

/** In any format. */
function countFiles(body: Json): number {
  return JSON.stringify(body).match(/"type":"(?:image|image_url|input_image|document|file|input_file)"/g)?.length ?? 0;
}

function think(calls: number, { thinkSeconds }: JobRun): string {
  const thought = `Step ${calls + 1}: what is next follows from what was seen.`;
  return calls === 0 ? `${thought}${' word'.repeat(thinkSeconds)}` : thought;
}

function writeEvent(event: Json | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
