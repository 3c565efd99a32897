// Reads the Prometheus text format strictly: whatever a Prometheus server would refuse fails.
import { send } from './client.ts';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly text: string;
  /** The families by name, with their types. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The sum of all samples of a name that have at least these labels; 0 if there are none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = { histogram: ['_bucket', '_sum', '_count'] };

export async function scrape(url: string): Promise<Exposition> {
  const { status, headers, text } = await send(url);
  if (status !== 200) throw new Error(`a scrape was answered ${status}: ${text}`);
  if (!/^text\/plain; version=0\.0\.4/.test(headers['content-type'] ?? '')) throw new Error('no exposition');
  return parseExposition(text);
}

export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  let family = '';
  for (const line of text.split('\n').filter((content) => content !== '')) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment) {
      const [, word, name = '', rest = ''] = comment;
      if (word === 'HELP') helped.add(name);
      else if (types.has(name)) throw new Error(`${name} comes twice`);
      else types.set(name, rest);
      family = name;
      continue;
    }
    const sample = parseSample(line);
    const suffixes = SUFFIXES[types.get(family) ?? ''] ?? [''];
    if (!suffixes.some((suffix) => sample.name === family + suffix)) throw new Error(`not of ${family}: ${line}`);
    const identity = line.slice(0, line.lastIndexOf(' '));
    if (seen.has(identity)) throw new Error(`a series comes twice: ${identity}`);
    seen.add(identity);
    samples.push(sample);
  }
  for (const name of types.keys()) if (!helped.has(name)) throw new Error(`${name} has no help`);
  checkHistograms(types, samples);
  const sum = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    samples
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      .reduce((total, { value }) => total + value, 0);
  return { text, types, samples, sum };
}

function parseSample(line: string): Sample {
  const [, name = '', inner = '', number = ''] = SAMPLE.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === '' || (Number.isNaN(value) && number !== 'NaN' && number !== 'Nan'))
    throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = inner; rest !== ''; ) {
    const [whole = '', label = '', text = ''] = LABEL.exec(rest) ?? [];
    if (whole === '' || label in labels) throw new Error(`bad labels: ${line}`);
    labels[label] = text;
    rest = rest.slice(whole.length);
  }
  return { name, labels, value };
}

/** Buckets only grow, and the last one is the count. */
function checkHistograms(types: ReadonlyMap<string, string>, samples: readonly Sample[]): void {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const family = sample.name.replace(/_bucket$/, '');
    if (family === sample.name || types.get(family) !== 'histogram') continue;
    const { le: _, ...labels } = sample.labels;
    const group = `${family} ${JSON.stringify(labels)}`;
    groups.set(group, [...(groups.get(group) ?? []), sample]);
  }
  for (const [group, buckets] of groups) {
    const values = buckets.map(({ value }) => value);
    const grows = values.every((value, index) => index === 0 || value >= (values[index - 1] as number));
    if (!grows || buckets.at(-1)?.labels.le !== '+Inf') throw new Error(`bad buckets: ${group}`);
    const [family = ''] = group.split(' ', 1);
    const { le: _, ...labels } = buckets[0]?.labels ?? {};
    const count = samples.find(
      ({ name, labels: other }) => name === `${family}_count` && JSON.stringify(other) === JSON.stringify(labels),
    );
    if (count?.value !== values.at(-1)) throw new Error(`the count is not that of the buckets: ${group}`);
  }
}
