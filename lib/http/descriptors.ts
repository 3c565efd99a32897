// How many connections a process accepts: every file, socket and pipe takes one of its descriptors.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Reserved for the store, the log, image downloads and anything else the process opens. */
const KEPT_DESCRIPTORS = 64;
const KEPT_SHARE = 1 / 8;
const CONNECTIONS_MIN = 32;
/** Connections cost memory, too. */
const CONNECTIONS_MAX = 10_000;

/** Half of the remaining descriptors: each call also has a connection to its upstream. */
export function computeConnectionsMax(descriptors: number): number {
  const left = Math.min(descriptors - KEPT_DESCRIPTORS, descriptors * (1 - KEPT_SHARE));
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, Math.floor(left / 2)));
}

/** The process's limit of open files and sockets. */
export function readDescriptorLimit(): number {
  const limit = Number(/^Max open files +(\d+|unlimited)/m.exec(readLimits())?.[1]?.replace('unlimited', 'Infinity'));
  return limit > 0 ? limit : 1024;
}

/** In the format of Linux's `/proc/self/limits`; elsewhere the shell knows the limit. */
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
