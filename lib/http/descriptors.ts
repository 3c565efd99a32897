// How many connections a process may hold: each file, socket and pipe takes one of its descriptors.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** For the store, the log, images that are fetched and whatever else a process opens. */
const KEPT_DESCRIPTORS = 64;
const KEPT_SHARE = 1 / 8;
const CONNECTIONS_MIN = 32;
/** Each costs memory too. */
const CONNECTIONS_MAX = 10_000;

/** Half of what is left: each call has a connection to its upstream too. */
export function connectionsFor(descriptors: number): number {
  const left = Math.min(descriptors - KEPT_DESCRIPTORS, descriptors * (1 - KEPT_SHARE));
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, Math.floor(left / 2)));
}

/** The process's limit of open files and sockets. */
export function readDescriptorLimit(): number {
  const limit = Number(/^Max open files +(\d+|unlimited)/m.exec(readLimits())?.[1]?.replace('unlimited', 'Infinity'));
  return limit > 0 ? limit : 1024;
}

/** As Linux writes it, also where only a shell can be asked. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return `Max open files ${askShell()}`;
  }
}

function askShell(): string {
  try {
    return execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
