// Separates prose from material: code, logs, tables, fences, tags and quotations, which ask for nothing.

export interface Prose {
  /** All lines; those of material are empty. */
  readonly lines: readonly string[];
  /** Which kinds of lines there are: `prose`, `code`, `data`, `fenced` in a fence, a tag or a quotation. */
  readonly kinds: ReadonlySet<string>;
}

const LINES_MAX = 200;
const LINE_READ = 160;

/** Reads a bounded number of lines. */
export function readProse(text: string): Prose {
  const lines: string[] = [];
  const kinds = new Set<string>();
  let fence: Fence | undefined;
  for (const line of text.split('\n', LINES_MAX)) {
    const read = line.slice(0, LINE_READ).trim();
    const opened = fence === undefined ? openFence(read) : undefined;
    const kind = classifyLine(read, fence ?? opened);
    kinds.add(kind);
    if (fence ?? opened) kinds.add('fenced');
    lines.push(kind === 'prose' ? line : '');
    fence = opened ?? (fence && read.includes(fence.end) ? undefined : fence);
  }
  return { lines, kinds };
}

interface Fence {
  readonly end: string;
  readonly code: boolean;
}

const TAG = /^<([a-z][a-z_-]{2,20})>/i;
const MARKUP = /^(html|head|body|div|span|table|script|style|form|section|template|project|configuration)$/i;

/** Detects a line that opens a code fence, triple quotes or a tag and does not close it. */
function openFence(line: string): Fence | undefined {
  if (line.startsWith('```')) return line.indexOf('```', 3) === -1 ? { end: '```', code: true } : undefined;
  if (line.endsWith('"""')) return line.indexOf('"""') === line.length - 3 ? { end: '"""', code: false } : undefined;
  const tag = TAG.exec(line)?.[1];
  if (tag === undefined || MARKUP.test(tag) || line.includes(`</${tag}>`)) return undefined;
  return { end: `</${tag}>`, code: false };
}

function classifyLine(line: string, fence: Fence | undefined): string {
  if (fence === undefined && (line === '' || RULE.test(line))) return 'blank';
  if (fence === undefined && line.startsWith('>') && !line.startsWith('>>>')) return 'fenced';
  if (DATA.test(line) || LOG.test(line)) return 'data';
  if (scoreCode(line) >= (fence?.code ? 1 : 2)) return 'code';
  return fence ? 'fenced' : 'prose';
}

const RULE = /^[-=_*#~]{3,}$/;
const DATA = /^[{["].*":|^\|.*\|$|^[^|]{1,60}( \| [^|]{1,60}){2,}$|^[^,\s]{1,20}(,[^,\s]{1,20}){3,}$/;
const LOG =
  /^\[?\d{4}[-/]\d\d[-/]\d\d.{4,}(INFO|WARN|ERROR|DEBUG|FATAL|TRACE|=|: )|^\[?\d\d:\d\d:\d\d\b.*(INFO|WARN|ERROR|DEBUG|: )/;

const CODE_STRONG =
  /[;{]$|^[\])}]+[;,]?$|^(#include|<\?php|<!doctype|<html|>>> |#!\/|Traceback \(most|npm ERR!|File "|\$ \w)|^(import [\w.{}*]+( from .+)?|from [\w.]+ import .+)$|^[\w.]*[A-Z]\w*(Error|Exception)\b|^<[a-z!/][^>]*>.*<\/|^(select|with)\b.+\bfrom\b.*[*(,=]|^(insert into|create table|alter table|update \w+ set)\b/i;
const CODE_START =
  /^(def|class|function|const|let|var|public|private|static|void|int|return|if|elif|else|for|while|try|except|switch|func|fn|struct|impl|package|using|print|async|export|select|from|where|join|group by|order by|end|sub|dim)\b.*([:{)(=,]|\s=\s)/i;
const CODE_SIGN =
  /=>|->|&&|\|\||[!=+:-]=|::|\w\(.*\)|\w\[|[a-z]_[a-z]|[a-z][A-Z][a-z]|\s=\s|^at \w|^(#|\/\/|\/\*|--) /g;
const PROSE_WORDS = 5;

/** Scores how much a line looks like code: 2 is enough, or 1 in a fence of code. */
function scoreCode(line: string): number {
  let points = CODE_STRONG.test(line) ? 2 : 0;
  if (CODE_START.test(line)) points += 1.5;
  points += Math.min(2, 0.75 * (line.match(CODE_SIGN)?.length ?? 0));
  return points > 0 && isProse(line) ? points - 1.5 : points;
}

function isProse(line: string): boolean {
  if (/[.?!]$/.test(line) && line.split(' ').length >= PROSE_WORDS) return true;
  return CYRILLIC.test(line) && !/^[#/'"]/.test(line);
}

const CYRILLIC = /[а-яё]{3}\s+[а-яё]{2}/i;
