// `tollgate smart`: shows how the router reads a prompt, signal by signal.

import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { SmartExplanation } from '../calls/smart/route.ts';
import type { Config } from '../config.ts';
import { type Answer, formatPairs, formatTable } from '../manage/answer.ts';
import { onConfig } from './session.ts';

export function addSmartCommands(program: Command): void {
  const smart = program.command('smart').description('the model that picks a model: explain');
  smart
    .command('explain')
    .description('Reads a prompt from stdin and shows its tier, its score and the signals behind it.')
    .addHelpText(
      'after',
      '\nThe thresholds are those of CATALOG_DIR.\n\nExample:\n  tollgate smart explain < prompt.txt',
    )
    .action(onConfig(explainPrompt));
}

async function explainPrompt(config: Config): Promise<Answer> {
  const text = await readPrompt(process.stdin);
  const { listCatalogFiles: catalogFilesOf, readCatalogFiles } = await import('../catalog/files.ts');
  const { explain } = await import('../calls/smart/route.ts');
  const { thresholds } = readCatalogFiles(catalogFilesOf(config.catalogDir), config.catalogVariables).smart;
  const explanation = explain({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] }, thresholds);
  return { json: explanation, text: format(explanation) };
}

/** All of stdin, without the newline that `echo` adds. */
async function readPrompt(stdin: Readable & { readonly isTTY?: boolean }): Promise<string> {
  if (stdin.isTTY) throw new Error('pass the prompt on stdin: tollgate smart explain < prompt.txt');
  const { BODY_BYTES_MAX } = await import('../http/body.ts');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`the prompt is larger than ${BODY_BYTES_MAX / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks)
    .toString()
    .replace(/\r?\n$/, '');
  if (text.trim() === '') throw new Error('there is no prompt on stdin');
  return text;
}

function format({ tier, score, base, thresholds, details }: SmartExplanation): string {
  const pairs = formatPairs([
    ['tier', tier],
    ['score', `${score} (standard from ${thresholds.standard}, heavy from ${thresholds.heavy})`],
  ]);
  const rows = details.map(({ name, points, evidence }) => [name, `${points}`, evidence.join(', ')]);
  return `${pairs}\n\n${formatTable(['signal', ' points', 'evidence'], [['base', `${base}`, ''], ...rows])}`;
}
