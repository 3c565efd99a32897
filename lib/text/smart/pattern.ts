// Examples with a gap at the end: `cat -> cats`, `Question: … Answer:`. The gap is to be filled as the examples show.

const LINE_READ = 160;
const LABEL_MAX = 24;
const LINKS: ReadonlySet<string> = new Set(['->', '=>', '→', '—', '–', '-', '=', ':']);
const EXAMPLES_MIN = 2;
const LINES_READ = 60;

/** True when the text ends in a label or a link that earlier lines have filled. */
export function endsInGap(text: string): boolean {
  const end = text.trimEnd();
  const last = end.slice(Math.max(end.lastIndexOf('\n') + 1, end.length - LINE_READ)).trim();
  const word = last.slice(last.lastIndexOf(' ') + 1);
  if (LINKS.has(word)) return last !== end && last !== word && countLinked(end, word) >= EXAMPLES_MIN;
  return word.endsWith(':') && word.length > 1 && word.length <= LABEL_MAX && isFilledBefore(end, word);
}

/** Lines with the link between two words of theirs. */
function countLinked(text: string, link: string): number {
  let count = 0;
  let from = 0;
  for (let line = 0; line < LINES_READ && from < text.length; line++) {
    const next = text.indexOf('\n', from);
    const to = next === -1 ? text.length : next;
    const at = text.slice(from, Math.min(to, from + LINE_READ)).indexOf(` ${link} `);
    if (at > 0) count++;
    from = to + 1;
  }
  return count;
}

/** The label stands earlier with something behind it on its line. */
function isFilledBefore(text: string, label: string): boolean {
  const at = text.indexOf(label);
  const after = at + label.length;
  if (at === -1 || after >= text.length) return false;
  const begins = at === 0 || text[at - 1] === '\n' || text[at - 1] === ' ';
  return (
    begins &&
    text
      .slice(after, after + LABEL_MAX)
      .split('\n', 1)[0]!
      .trim() !== ''
  );
}
