// Headers by which clients of the messages format name its version and its betas. Their names begin with the format's
// maker, which is not ours to know: what counts is how they end.
import type { IncomingHttpHeaders } from 'node:http';

const VERSION_NAME = /^[a-z]+-version$/;
const VERSION = /^\d{4}-\d{2}-\d{2}$/;
const BETA_NAME = /^[a-z]+-beta$/;
const BETA = /^[a-z0-9-]{1,100}-\d{4}-?\d{2}-?\d{2}$/;
const BETAS_MAX = 50;

export function hasMessageVersion(headers: IncomingHttpHeaders): boolean {
  return Object.entries(headers).some(([name, value]) => VERSION_NAME.test(name) && VERSION.test(String(value)));
}

/** Absent if there are none; what does not look like one is skipped. */
export function readBetas(headers: IncomingHttpHeaders): { readonly betas?: readonly string[] } {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    BETA_NAME.test(name) ? String(value).split(',') : [],
  );
  const betas = [...new Set(given.map((beta) => beta.trim()))].filter((beta) => BETA.test(beta)).slice(0, BETAS_MAX);
  return betas.length > 0 ? { betas } : {};
}
