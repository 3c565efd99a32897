// The router's signals: stable names, in the order in which replies list them, and the evidence for each.
/** The subjects of each signal: concepts of the word files and shapes of a message, or single evidence of a subject. */
const SUBJECTS = {
  short: 'words',
  length: 'sentences words.over40 words.over80',
  greeting: 'greeting',
  translate: 'translate',
  fix: 'fix',
  shorten: 'shorten summarize',
  rewrite: 'rewrite change',
  classify: 'classify',
  extract: 'extract',
  convert: 'convert handle format piece measure list data',
  lookup: 'lookup micro tongue',
  given_text: 'payload quoted deictic grammar',
  fact: 'who quantity factual define what',
  closed: 'closed other check identify yes_no',
  arithmetic: 'sum operation operations numbers basic',
  brief: 'brief terse simple constraint',
  compose: 'write give complete act content persona plan media spoken essay long ideas',
  explain: 'explain why how topics',
  advice: 'advise opinion better care me debatable bare',
  wording: 'wording',
  code: 'implement operate code software language tech role_code sample givens structure statement lines',
  debug: 'bug trouble review',
  math: 'math higher science formulas solve',
  proof: 'prove reasoning',
  logic: 'logic clue',
  analysis: 'analyze compare criteria strategy develop expert detailed',
  design: 'design',
  long_output: 'asked',
  json: 'json',
  long_input: 'length volume',
  dialog: 'after turns',
} as const;

export type SignalName = keyof typeof SUBJECTS;

export const SIGNAL_NAMES = Object.keys(SUBJECTS) as readonly SignalName[];

const RAISING = new Set('code debug math proof logic analysis design long_output json long_input dialog'.split(' '));
const LOWERING = new Set('translate fix shorten classify extract'.split(' '));

const SIGNAL_BY_SUBJECT = new Map(
  SIGNAL_NAMES.flatMap((name) => SUBJECTS[name].split(' ').map((subject): [string, SignalName] => [subject, name])),
);

/** The signal of evidence written as `subject.place`, or of a subject; none for concepts that only help to parse. */
export function findSignal(evidence: string): SignalName | undefined {
  const dot = evidence.indexOf('.');
  return SIGNAL_BY_SUBJECT.get(evidence) ?? (dot === -1 ? undefined : SIGNAL_BY_SUBJECT.get(evidence.slice(0, dot)));
}

/** 1 for a signal that never lowers the score, -1 for one that never raises it, 0 for those that do either. */
export function findDirection(signal: SignalName | undefined): -1 | 0 | 1 {
  if (signal === undefined) return 0;
  return RAISING.has(signal) ? 1 : LOWERING.has(signal) ? -1 : 0;
}

/**
 * The evidence that a concept is mentioned. Tasks that lower the score count only where they are asked for: an apology
 * promises to correct, too.
 */
export const MENTIONS: ReadonlyMap<string, string> = new Map(
  [...SIGNAL_BY_SUBJECT]
    .filter(([, signal]) => findDirection(signal) >= 0)
    .map(([subject]) => [subject, `${subject}.ask`]),
);
