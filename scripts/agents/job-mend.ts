// The job that every agent does: read a file, mend it, run its test, and say so.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AgentCall,
  type AskedModel,
  callTool,
  canDoJob,
  EDIT,
  findTool,
  type Job,
  type JobRun,
  READ,
  RUN,
  SHORT_ANSWER,
} from './job.ts';

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

/** Long enough that prompts of small programs are cached too. */
const NOTICE = `// ${'Anyone may use, copy, change and pass on this file as they like. '.repeat(60)}\n`;

function writeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'sum.js'), `${NOTICE}export function sum(a, b) {\n  ${WRONG}\n}\n`);
  writeFileSync(
    join(folder, 'test.js'),
    "import { sum } from './sum.js';\nif (sum(2, 3) !== 5) throw new Error('2 + 3 is not 5');\nconsole.log('all good');\n",
  );
  execFileSync('git', ['init', '-q'], { cwd: folder });
}

function doesTestPass(folder: string): boolean {
  try {
    return execFileSync(process.execPath, ['test.js'], { cwd: folder, stdio: 'pipe' }).toString() === 'all good\n';
  } catch {
    return false;
  }
}

function nextCall({ tools, calls }: AskedModel, { folder, steps, finish }: JobRun): AgentCall | undefined {
  const file = join(folder, 'sum.js');
  const run = (command: string) => callTool(findTool(tools, RUN), { file, command });
  switch (calls) {
    case 0: {
      const read = findTool(tools, READ);
      return read ? callTool(read, { file, command: 'view' }) : run('cat sum.js');
    }
    case 1: {
      const patch = tools.find(({ name, isCustom }) => isCustom && name === 'apply_patch');
      if (patch) return { name: patch.name, isCustom: true, input: PATCH };
      const edit = findTool(tools, EDIT);
      if (!edit) return run(`sed -i 's/a - b/a + b/' sum.js`);
      return callTool(edit, { file, command: 'str_replace', before: WRONG, after: RIGHT });
    }
    default:
      if (calls < steps) return run('node test.js');
      return finish !== undefined && calls === steps ? run(finish) : undefined;
  }
}

export const mend: Job = {
  prompt: 'The test in test.js fails. Read sum.js, mend it, run the test with node, and tell me the result.',
  closing: CLOSING,
  write: writeRepository,
  nextCall,
  say({ tools, text }) {
    if (canDoJob(tools)) return CLOSING;
    return text.includes('SEARCH/REPLACE') ? EDIT_IN_TEXT : SHORT_ANSWER;
  },
  isDone: doesTestPass,
};
