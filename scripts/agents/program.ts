// What `npm run agents` knows of a program: where it comes from, and how it is pointed at an address, a key and a
// model.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { files } from './job-files.ts';
import { mend } from './job-mend.ts';
import { search } from './job-search.ts';

export type WireName = 'messages' | 'chat' | 'responses';

export const JOBS = { mend, files, search } as const;
export type JobName = keyof typeof JOBS;

export interface Place {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  /** The scratch repository. */
  readonly folder: string;
  readonly home: string;
  readonly prompt: string;
  readonly job: JobName;
}

export interface Program {
  readonly name: string;
  readonly registry: 'npm' | 'pypi';
  readonly package: string;
  /** In npm's words; the newest if absent. */
  readonly version?: string;
  /** Further packages, in the words of the registry. */
  readonly extras?: readonly string[];
  readonly runs: Runs;
  readonly wire: WireName;
  /** Default: mending alone. */
  readonly jobs?: readonly JobName[];
  /** Files by path, below the home unless absolute. */
  files?(place: Place): Readonly<Record<string, string>>;
  env?(place: Place): Readonly<Record<string, string>>;
  /** Arguments of a run before, which stores settings. */
  setup?(place: Place): readonly string[];
  args?(place: Place): readonly string[];
  /** The command with which the model ends the job, for programs that do not take an answer for the end. */
  readonly finish?: string;
}

/** A command of the package, or a file in `libraries` that uses the package. */
export type Runs = { readonly command: string } | { readonly script: string };

/** Writes the settings of a program. */
export function writeSettings(program: Program, place: Place): void {
  for (const [path, content] of Object.entries(program.files?.(place) ?? {})) {
    const file = path.startsWith('/') ? path : join(place.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
