// The vendors that an operator may choose from on pages: the plugin that speaks to each, and its address.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Vendor {
  readonly id: string;
  /** Empty for a server of any maker that speaks a certain API. */
  readonly title: string;
  readonly plugin: string;
  /** Absent: to be typed in. */
  readonly baseUrl?: string;
  /** What else its plugin has to know of it. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

const FILE = fileURLToPath(new URL('../../catalog/vendors/vendors.json', import.meta.url));

let read: readonly Vendor[] | undefined;

export function listVendors(): readonly Vendor[] {
  read ??= Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, Omit<Vendor, 'id'>>>).map(
    ([id, vendor]) => ({ id, ...vendor }),
  );
  return read;
}
