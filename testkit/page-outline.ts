// What a page says and offers, as lines of text: words, links, fields and their values, tables row by row, charts by their
// titles. Without classes and geometry.
import { maskVarying } from './recorded.ts';

/** Tags that begin a line. */
const BLOCKS =
  'h1|h2|h3|p|div|section|form|li|tr|label|details|summary|dt|dd|caption|legend|select|pre|aside|nav|title';
/** Attributes that say nothing to a visitor. */
const HIDDEN =
  / (?:class|style|id|for|method|role|scope|data-title|tabindex|autocomplete|aria-(?:describedby|labelledby|controls))="[^"]*"/g;

const MAIN = /<main[^>]*>(.*)<\/main>/s;

export function outlinePage(page: string): string {
  return outline(MAIN.exec(page)?.[1] ?? page);
}

/** What is around the page's own part: its head, the navigation, notices. */
export function outlineFrame(page: string): string {
  return outline(page.replace(MAIN, '').replace(/(<title>).*?( · [^<]*<\/title>)/, '$1$2'));
}

/** How many lines one of two outlines has alone, and those of the other. */
export function diffLines(before: string, after: string): readonly string[] {
  const [old, now] = [before, after].map((text) => new Set(text.split('\n'))) as [Set<string>, Set<string>];
  return [`- ${old.difference(now).size} lines`, ...now.difference(old)];
}

function outline(text: string): string {
  const lines = text
    .replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '')
    .replace(/<pre[^>]*>.*?<\/pre>/gs, (text) =>
      text.replace(/\n( *)/g, (_, indent) => `↵${'·'.repeat(indent.length)}`),
    )
    .replace(/\s+/g, ' ')
    .replace(/<svg.*?<\/svg>/gs, (chart) =>
      [...chart.matchAll(/<title[^>]*>([^<]*)</g)].map(([, text]) => `\n~ ${text}`).join(''),
    )
    .replace(new RegExp(`<(?:${BLOCKS})(?= |>)`, 'g'), '\n$&')
    .replace(/<\/(?!a|button|th|td)\w+>/g, ' ')
    .replace(HIDDEN, '')
    .replace(/<(\w+)>/g, (_, tag) => (/^(?:h\d|th|td|li|button|option)$/.test(tag) ? `<${tag}>` : ''))
    .split('\n')
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter((line) => line !== '');
  // Such as the hours of a chart without a call.
  const masked = maskVarying(lines.join('\n')).split('\n');
  return masked.filter((line, at) => line !== masked[at - 1]).join('\n');
}
