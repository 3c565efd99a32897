// What a model has to do in a scratch repository, and how the scripted one asks programs for it with their own tools.
export interface Job {
  readonly prompt: string;
  /** What the program says in the end. */
  readonly closing: string;
  /** Fills the scratch repository. */
  write(folder: string): void;
  /** What the model calls next; nothing once the job is done. */
  nextCall(asked: AskedModel, run: JobRun): AgentCall | undefined;
  /** What the model says when it calls nothing more. */
  say(asked: AskedModel): string;
  isDone(folder: string): boolean;
}

/** What the model was sent, as far as it matters to a job. */
export interface AskedModel {
  readonly tools: readonly AgentTool[];
  /** Calls in the history. */
  readonly calls: number;
  /** Images and documents. */
  readonly files: number;
  /** All of the prompt. */
  readonly text: string;
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

export interface JobRun {
  readonly folder: string;
  /** Calls in all: the last is repeated until there were so many. */
  readonly steps: number;
  /** How long the model thinks before its first call; each word of a thought takes a second then. */
  readonly thinkSeconds: number;
  /** The command that ends the job; nothing if an answer does. */
  readonly finish?: string | undefined;
}

export const STEPS_MIN = 3;

export const RUN =
  /^(bash|shell|exec_command|shell_command|run_shell_command|run_commands?|execute_command|run_terminal_command|terminal|execute_bash)$/i;
export const READ = /^(read|read_file|view|file_editor)$/i;
export const EDIT =
  /^(edit|edit_file|replace|str_replace|str_replace_editor|file_editor|replace_in_file|string_replace)$/i;

/** Whether these are the tools of an agent, not those of a title or a summary. */
export function canDoJob(tools: readonly AgentTool[]): boolean {
  return tools.some(({ name }) => RUN.test(name));
}

/** What is said without tools, as to a request for a title. */
export const SHORT_ANSWER = 'A short answer';

/** A tool of the program that takes JSON. */
export function findTool(tools: readonly AgentTool[], pattern: RegExp): AgentTool | undefined {
  return tools.find(({ name, isCustom }) => !isCustom && pattern.test(name));
}

/** What the arguments of a call are about; properties that are none of it get any value. */
interface Subject {
  /** A path. */
  readonly file?: string;
  readonly command?: string;
  readonly before?: string;
  readonly after?: string;
  readonly query?: string;
}

export function callTool(tool: AgentTool | undefined, subject: Subject): AgentCall {
  if (!tool) throw new Error('the agent offers no tool for this step');
  return { name: tool.name, isCustom: false, input: JSON.stringify(fillObject(tool.schema, subject)) };
}

/** Arguments by the names of a tool's properties: every agent has names of its own. */
function fillObject({ properties = {}, required = [] }: Schema, subject: Subject): object {
  const fields = Object.entries(properties).flatMap(([name, schema]): [string, unknown][] => {
    const value = fillProperty(name, schema, subject);
    if (value !== undefined) return [[name, value]];
    return required.includes(name) ? [[name, fillUnknown(schema, subject)]] : [];
  });
  return Object.fromEntries(fields);
}

function fillProperty(name: string, schema: Schema, { file, command, before, after, query }: Subject): unknown {
  if (/^(file_?path|path|file|target_file|absolute_path)$/i.test(name)) return file;
  if (/^old/i.test(name)) return before;
  if (/^new/i.test(name)) return after;
  if (/^query$/i.test(name)) return query;
  if (/^commands$/i.test(name)) return command && [command];
  if (/^(command|cmd)$/i.test(name)) return schema.type === 'array' ? command && ['bash', '-lc', command] : command;
  return undefined;
}

function fillUnknown(schema: Schema, subject: Subject): unknown {
  if (schema.enum) return schema.enum[0];
  switch ([schema.type].flat()[0]) {
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return 1;
    case 'array':
      return schema.items?.properties ? [fillObject(schema.items, subject)] : [];
    case 'object':
      return fillObject(schema, subject);
    default:
      return 'a step of the job';
  }
}
