// The attackers of a siege, in their own process with the lowest priority, so as not to measure their own speed.
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { ATTACKS, type Target } from './attacks.ts';

export interface AttackJob extends Target {
  readonly names: readonly string[];
  readonly seconds: number;
}

setPriority(19);

function run({ names, seconds, ...target }: AttackJob): void {
  const sockets = new Set<Socket>();
  const until = performance.now() + seconds * 1000;
  const isOver = () => performance.now() >= until;
  for (const name of names) ATTACKS[name]?.run(target, { sockets, isOver });
  setTimeout(() => {
    for (const socket of sockets) socket.destroy();
    process.send?.({ done: true });
  }, seconds * 1000);
}

process.on('message', run);
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
