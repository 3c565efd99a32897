// Finds links of Markdown pages and mentions of `docs/…` elsewhere that lead nowhere.
import { dirname, join, normalize } from 'node:path';

/** Every text of the repository by its path. */
type Texts = ReadonlyMap<string, string>;

/** One line for each link to a file that is not there, or to a heading that its page does not have. */
export function findBrokenLinks(texts: Texts): readonly string[] {
  const folders = new Set([...texts.keys()].flatMap(listFolders));
  const broken: string[] = [];
  for (const [path, text] of texts) {
    for (const link of path.endsWith('.md') ? listLinks(text) : listMentions(text)) {
      const [file = '', heading] = link.split('#');
      const target = file === '' ? path : normalize(path.endsWith('.md') ? join(dirname(path), file) : file);
      const page = texts.get(target.replace(/\/$/, ''));
      if (page === undefined && !folders.has(target.replace(/\/$/, ''))) broken.push(`${path}: nothing at ${link}`);
      else if (heading && page !== undefined && target.endsWith('.md') && !listAnchors(page).has(heading)) {
        broken.push(`${path}: no heading for ${link}`);
      }
    }
  }
  return broken;
}

function listFolders(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Relative links outside code. */
function listLinks(markdown: string): readonly string[] {
  const prose = markdown.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

/** Pages that comments and messages name. */
function listMentions(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w/.])docs\/[\w./-]+\.md\b/g)].map(([mention]) => mention);
}

/** The anchors that GitHub makes of headings. */
function listAnchors(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  );
}
