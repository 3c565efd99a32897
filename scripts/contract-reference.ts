// Writes docs/providers-contract.md and docs/payments-contract.md: every type that a plugin meets, with its comments,
// from the types themselves.
import { readFileSync, writeFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);
const PAGE = new URL('docs/providers-contract.md', ROOT);
const PAYMENTS_PAGE = new URL('docs/payments-contract.md', ROOT);
const CONTRACT = 'lib/upstream/contract/';

/** In the order in which a reader needs them; a test sees to it that none is missing. */
export const SECTIONS: readonly (readonly [file: string, title: string])[] = [
  ['provider', 'The plugin and its provider'],
  ['account', 'Settings'],
  ['call', 'What is asked for, and what comes back'],
  ['content', 'Messages, images, tools and their results'],
  ['output', 'Formats of answers, and reasoning'],
  ['host', 'The host'],
  ['request', 'Requests'],
  ['answer', 'Reading an answer'],
  ['../../stream/provider-part', 'The parts of an answer'],
  ['format', 'Common formats'],
  ['embedding', 'Embeddings'],
  ['image', 'Images'],
  ['job', 'Jobs'],
  ['video', 'Videos'],
  ['vendor-model', 'Models of a vendor'],
  ['fault', 'Faults'],
];

const HEAD = `# The contract of providers

Every type of \`tollgate/plugin\`, with its comments. [Writing a provider](providers.md) explains how they are used. This
page is made from the types by \`node scripts/contract-reference.ts\`.
`;

export function buildReference(): string {
  return [HEAD, ...SECTIONS.map(([file, title]) => `## ${title}\n\n\`\`\`ts\n${readTypes(file)}\n\`\`\`\n`)].join('\n');
}

const PAYMENTS_HEAD = `# The contract of payment plugins

Every type of \`tollgate/payments\` that is about payments, with its comments. [Taking
money](payments.md#a-provider-of-your-own) explains how they are used. The types that they share with providers are in
[their contract](providers-contract.md): [the host](providers-contract.md#the-host),
[requests](providers-contract.md#requests), [faults](providers-contract.md#faults). This page is made from the types by
\`node scripts/contract-reference.ts\`.
`;

export function buildPaymentsReference(): string {
  return `${PAYMENTS_HEAD}\n\`\`\`ts\n${readTypes('payment')}\n\`\`\`\n`;
}

/** Without what only the compiler needs: the first comment says what the file is for, imports where types are. */
function readTypes(file: string): string {
  const source = readFileSync(new URL(`${CONTRACT}${file}.ts`, ROOT), 'utf8');
  return source
    .replace(/^(\/\/.*\n)+/, '')
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^export (type )?(\*|\{[^}]*\})( from '[^']*')?;\n/gm, '')
    .replaceAll(/^export /gm, '')
    .trim();
}

if (import.meta.main) {
  writeFileSync(PAGE, buildReference());
  writeFileSync(PAYMENTS_PAGE, buildPaymentsReference());
}
