// What the Dockerfile puts into the image and how it runs, read from the file itself.
import { readFileSync } from 'node:fs';

interface Dockerfile {
  /** The default base images of the stages. */
  readonly images: readonly string[];
  /** Files and folders of the checkout in the last stage: from, to. */
  readonly copies: readonly (readonly [string, string])[];
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly user: string | undefined;
  /** What the context contains, after `.dockerignore`. */
  readonly sent: readonly string[];
}

export function readDockerfile(): Dockerfile {
  const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
  const text = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '');
  const lines = text.split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const after = (word: string, among = last) =>
    among.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  const copies = after('COPY')
    .filter((line) => !line.startsWith('--from'))
    .flatMap((line) => {
      const paths = line.split(' ');
      const to = paths.at(-1) ?? '';
      return paths
        .slice(0, -1)
        .map((from) => [from, to.endsWith('/') ? `${to}${from.split('/').at(-1)}` : to] as const);
    });
  const defaults = new Map(after('ARG', lines).map((line) => line.split('=') as [string, string]));
  const healthcheck = after('HEALTHCHECK')[0] ?? '';
  return {
    images: after('FROM', lines).map(
      (line) => line.split(' ')[0]?.replace(/^\$\{(\w+)\}$/, (_, name) => defaults.get(name) ?? '') ?? '',
    ),
    copies,
    environment: Object.fromEntries(
      after('ENV').flatMap((line) => line.split(' ').map((pair) => pair.split(/=(.*)/s))),
    ),
    command: JSON.parse(after('CMD')[0] ?? ''),
    healthcheck: JSON.parse(healthcheck.slice(healthcheck.indexOf('CMD ') + 4)),
    user: after('USER').at(-1),
    sent: read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1)),
  };
}
