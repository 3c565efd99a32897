// Another gateway beside ours: any command that serves chat completions on PORT in front of UPSTREAM_URL.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GATEWAY_CORE, pin, type Running } from './process.ts';

export interface AgainstOptions {
  /** Run by a shell, in its own process group. */
  readonly command: string;
  /** Where it serves chat completions. */
  readonly path: string;
  /** The key it accepts: sent as `authorization: Bearer` and as `x-api-key`. */
  readonly key: string;
  readonly upstream: string;
}

export interface Against extends Running {
  stop(): void;
}

const START_MS_MAX = 60_000;
const LOOK_MS = 100;

/** Resolves once it answers anything at all. */
export async function startAgainst({ command, path, key, upstream }: AgainstOptions): Promise<Against> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), UPSTREAM_URL: upstream };
  const child = spawn('/bin/sh', ['-c', command], { env, detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = () => {
    process.off('exit', stop);
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, 'SIGTERM');
  };
  process.once('exit', stop);
  pin(child, GATEWAY_CORE);
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + START_MS_MAX;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`the command of --against ended with ${child.exitCode}`);
    if (performance.now() > until) throw new Error(`the command of --against does not listen on PORT ${port}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { child, url, path, key, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
