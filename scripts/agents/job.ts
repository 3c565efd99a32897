// The job that every agent does: read a file, mend it, run its test, and say so; and how the scripted model asks for it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const PROMPT =
  'The test in test.js fails. Read sum.js, mend it, run the test with node, and tell me the result.';
export const CLOSING = 'The test passes now.';

const WRONG = 'return a - b;';
const RIGHT = 'return a + b;';
const PATCH = `*** Begin Patch\n*** Update File: sum.js\n@@\n-  ${WRONG}\n+  ${RIGHT}\n*** End Patch\n`;

/** The whole job in one answer, for a program that reads edits from the text and runs the test itself. */
const EDIT_IN_TEXT = [
  'sum.js',
  '```',
  '<<<<<<< SEARCH',
  `  ${WRONG}`,
  '=======',
  `  ${RIGHT}`,
  '>>>>>>> REPLACE',
  '```',
  CLOSING,
].join('\n');

/** What is said without a tool. */
export function writeReply(tools: readonly AgentTool[], prompt: string): string {
  if (canDoJob(tools)) return CLOSING;
  return prompt.includes('SEARCH/REPLACE') ? EDIT_IN_TEXT : 'A short answer';
}

/** Long enough that prompts of small programs are cached too. */
const NOTICE = `// ${'Anyone may use, copy, change and pass on this file as they like. '.repeat(60)}\n`;

/** A scratch repository. */
export function writeJob(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'sum.js'), `${NOTICE}export function sum(a, b) {\n  ${WRONG}\n}\n`);
  writeFileSync(
    join(folder, 'test.js'),
    "import { sum } from './sum.js';\nif (sum(2, 3) !== 5) throw new Error('2 + 3 is not 5');\nconsole.log('all good');\n",
  );
  execFileSync('git', ['init', '-q'], { cwd: folder });
}

export function isJobDone(folder: string): boolean {
  try {
    return execFileSync(process.execPath, ['test.js'], { cwd: folder, stdio: 'pipe' }).toString() === 'all good\n';
  } catch {
    return false;
  }
}

export interface AgentTool {
  readonly name: string;
  /** Takes text instead of JSON. */
  readonly isCustom: boolean;
  readonly schema: Schema;
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

export interface AgentCall {
  readonly name: string;
  readonly isCustom: boolean;
  /** JSON, or the text of a custom tool. */
  readonly input: string;
}

const RUN =
  /^(bash|shell|exec_command|shell_command|run_shell_command|run_commands?|execute_command|run_terminal_command|terminal)$/i;
const READ = /^(read|read_file|view|file_editor)$/i;
const EDIT = /^(edit|edit_file|replace|str_replace|str_replace_editor|file_editor|replace_in_file)$/i;

/** Whether these are the tools of an agent, not those of a title or a summary. */
export function canDoJob(tools: readonly AgentTool[]): boolean {
  return tools.some(({ name }) => RUN.test(name));
}

/** Reading, mending, testing. */
export const STEPS_MIN = 3;

export interface Job {
  readonly folder: string;
  /** Calls in all: the test is run again until there were so many. */
  readonly steps: number;
  /** How long the model thinks before its first call; each word of a thought takes a second then. */
  readonly thinkSeconds: number;
  /** The command that ends the job; nothing if an answer does. */
  readonly finish?: string | undefined;
}

/** What the model calls after so many calls; nothing once the job is done. */
export function nextCall(
  tools: readonly AgentTool[],
  calls: number,
  { folder, steps, finish }: Job,
): AgentCall | undefined {
  const find = (pattern: RegExp) => tools.find(({ name, isCustom }) => !isCustom && pattern.test(name));
  const run = (command: string) => call(find(RUN), { folder, command });
  switch (calls) {
    case 0:
      return find(READ) ? call(find(READ), { folder, command: 'view' }) : run('cat sum.js');
    case 1: {
      const patch = tools.find(({ name, isCustom }) => isCustom && name === 'apply_patch');
      if (patch) return { name: patch.name, isCustom: true, input: PATCH };
      return find(EDIT) ? call(find(EDIT), { folder, command: 'str_replace' }) : run(`sed -i 's/a - b/a + b/' sum.js`);
    }
    default:
      if (calls < steps) return run('node test.js');
      return finish !== undefined && calls === steps ? run(finish) : undefined;
  }
}

interface Facts {
  readonly folder: string;
  readonly command: string;
}

function call(tool: AgentTool | undefined, facts: Facts): AgentCall {
  if (!tool) throw new Error('the agent offers no tool for this step');
  return { name: tool.name, isCustom: false, input: JSON.stringify(fillObject(tool.schema, facts)) };
}

/** Arguments by the names of a tool's properties: every agent has names of its own. */
function fillObject({ properties = {}, required = [] }: Schema, facts: Facts): object {
  const fields = Object.entries(properties).flatMap(([name, schema]): [string, unknown][] => {
    const value = fillProperty(name, schema, facts);
    if (value !== undefined) return [[name, value]];
    return required.includes(name) ? [[name, fillUnknown(schema, facts)]] : [];
  });
  return Object.fromEntries(fields);
}

function fillProperty(name: string, schema: Schema, { folder, command }: Facts): unknown {
  if (/^(file_?path|path|file|target_file|absolute_path)$/i.test(name)) return join(folder, 'sum.js');
  if (/^old/i.test(name)) return WRONG;
  if (/^new/i.test(name)) return RIGHT;
  if (/^commands$/i.test(name)) return [command];
  if (/^(command|cmd)$/i.test(name)) return schema.type === 'array' ? ['bash', '-lc', command] : command;
  return undefined;
}

function fillUnknown(schema: Schema, facts: Facts): unknown {
  if (schema.enum) return schema.enum[0];
  switch ([schema.type].flat()[0]) {
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 1;
    case 'array':
      return schema.items?.properties ? [fillObject(schema.items, facts)] : [];
    case 'object':
      return fillObject(schema, facts);
    default:
      return 'a step of the job';
  }
}
