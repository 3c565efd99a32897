// The router's signals: stable names, in the order in which replies list them, and the evidence for each.
/** The subjects of each signal: concepts of the word files and shapes of a message. */
const SUBJECTS = {
  short: 'words',
  greeting: 'greeting',
  translate: 'translate tongue',
  fix: 'fix check grammar',
  shorten: 'shorten summarize',
  rewrite: 'rewrite change',
  classify: 'classify identify options yes_no',
  extract: 'extract list data',
  convert: 'convert handle format piece measure',
  lookup: 'lookup micro gap',
  given_text: 'payload quoted deictic',
  fact: 'who quantity factual define what',
  closed: 'closed other',
  arithmetic: 'sum operation operations basic numbers',
  brief: 'brief terse simple constraint',
  compose: 'write give complete act content persona plan media spoken essay long ideas',
  explain: 'explain why how topics',
  advice: 'advise opinion better care me debatable bare',
  code: 'implement operate code software language tech role_code sample givens structure statement lines',
  debug: 'bug trouble review',
  math: 'math higher science formulas solve story',
  proof: 'prove reasoning',
  logic: 'logic clue',
  analysis: 'analyze compare criteria strategy develop expert detailed commas bullets',
  design: 'design',
  long_output: 'asked',
  json: 'json',
  long_input: 'length',
  dialog: 'after turns',
} as const;

export type SignalName = keyof typeof SUBJECTS;

export const SIGNAL_NAMES = Object.keys(SUBJECTS) as readonly SignalName[];

const SIGNAL_BY_SUBJECT = new Map(
  SIGNAL_NAMES.flatMap((name) => SUBJECTS[name].split(' ').map((subject): [string, SignalName] => [subject, name])),
);

/** Returns false for concepts that only help to parse. */
export function isSignalSubject(subject: string): boolean {
  return SIGNAL_BY_SUBJECT.has(subject);
}

/** The signal of evidence written as `subject.place`; material counts towards the work on it. */
export function findSignal(evidence: string): SignalName {
  const [subject = '', place = ''] = evidence.split('.');
  const material = subject === 'payload' || subject === 'lines' ? SIGNAL_BY_SUBJECT.get(place) : undefined;
  const name = material ?? SIGNAL_BY_SUBJECT.get(subject);
  if (name === undefined) throw new Error(`no signal for the evidence ${evidence}`);
  return name;
}
