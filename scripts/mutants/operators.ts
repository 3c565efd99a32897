// The changes that a mistake could have made in a source file: one line each, named as in a review.
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

export interface Mutation {
  /** The kind of mistake; a campaign takes every kind equally often. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** The fields of ESTree that the operators read, and every child by name. */
interface Tree extends Node {
  readonly [field: string]: unknown;
  readonly operator: string;
  readonly left: Tree;
  readonly right: Tree;
  readonly test: Tree;
  readonly argument: Tree;
  readonly expression: Tree;
}

type Place = Pick<Mutation, 'start' | 'end'>;
type Source = (node: Place) => string;
type Operator = (node: Tree, source: Source) => readonly (readonly [kind: string, at: Place, replacement: string])[];

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
};
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' };
/** Larger numbers are mostly times and sizes of buffers, where one more or less means nothing. */
const SMALL = 20;

/** No client and no store sees logs, messages of errors, and assertions about what cannot happen. */
const UNSEEN = /^(console|assert|(.*\.)?log)\b/;

const CLOCK = /\bnow\b/;

const SQL = /^\W*(SELECT|INSERT|UPDATE|DELETE|WITH|WHERE|AND|ORDER)\b/;
const SQL_SWAPS: readonly (readonly [RegExp, string])[] = [
  [/ (<|>) /g, ' $1= '],
  [/ (<|>)= /g, ' $1 '],
  [/ = (?=\?|:|\$)/g, ' <> '],
  [/ AND /g, ' OR '],
  [/ \+ /g, ' - '],
  [/ DESC\b/g, ''],
  [/ IS NOT NULL/g, ' IS NULL'],
];
const MONGO: Readonly<Record<string, string>> = { $lt: '$lte', $lte: '$lt', $gt: '$gte', $gte: '$gt', $ne: '$eq' };

const OPERATORS: Readonly<Record<string, Operator>> = {
  BinaryExpression: ({ operator, left, right }, source) => {
    const place = { start: left.end, end: right.start };
    const change = (to: string) => source(place).replace(operator, to);
    const opposite = ARITHMETIC[operator];
    if (opposite !== undefined) return isText(left) || isText(right) ? [] : [['arithmetic', place, change(opposite)]];
    const tos = COMPARISONS[operator] ?? [];
    // Nobody meets the very millisecond.
    const some = CLOCK.test(source({ start: left.start, end: right.end })) ? tos.slice(1) : tos;
    return some.map((to) => ['comparison', place, change(to)] as const);
  },
  LogicalExpression: (node, source) => {
    const left = source(node.left);
    const right = source(node.right);
    if (node.operator === '??') return [left, right].map((side) => ['default', node, `(${side})`] as const);
    return [['and/or', node, `((${left}) ${node.operator === '&&' ? '||' : '&&'} (${right}))`]];
  },
  IfStatement: ({ test, consequent, alternate }) => {
    const kind = alternate === null && leaves(consequent as Tree) ? 'guard' : 'condition';
    return [
      [kind, test, 'false'],
      ['condition', test, 'true'],
    ];
  },
  WhileStatement: ({ test }) => [['condition', test, 'false']],
  ConditionalExpression: ({ test, consequent, alternate }, source) => {
    const first = consequent as Tree;
    const second = alternate as Tree;
    const swapped = ` ? (${source(second)}) : (${source(first)})`;
    return [['branch', { start: test.end, end: second.end }, swapped]];
  },
  UnaryExpression: (node, source) => (node.operator === '!' ? [['comparison', node, source(node.argument)]] : []),
  UpdateExpression: ({ operator, start, end }, source) => {
    const text = source({ start, end });
    return [['arithmetic', { start, end }, text.replace(operator, operator === '++' ? '--' : '++')]];
  },
  AssignmentExpression: ({ operator, left, right }, source) => {
    const place = { start: left.end, end: right.start };
    const opposite = operator.length === 2 ? ARITHMETIC[operator.charAt(0)] : undefined;
    if (opposite === undefined || isText(right)) return [];
    return [['arithmetic', place, source(place).replace(operator, `${opposite}=`)]];
  },
  ExpressionStatement: (node) =>
    /^(Call|Await|Assignment|Update)Expression$/.test(node.expression.type) ? [['statement', node, ';']] : [],
  AwaitExpression: (node, source) => [['await', node, source(node.argument)]],
  Literal: (node, source) => {
    const { value } = node as { value?: unknown };
    if (typeof value === 'boolean') return [['constant', node, String(!value)]];
    if (typeof value === 'string') return mutateSql(node, source(node));
    if (!/^(number|bigint)$/.test(typeof value) || Number(value) > SMALL) return [];
    const text = typeof value === 'bigint' ? `${value + 1n}n` : String(Number(value) + 1);
    return [['constant', node, text]];
  },
  TemplateElement: (node, source) => mutateSql(node, source(node)),
  Property: (node, source) => {
    const name = source(node.key as Tree);
    if (MONGO[name] !== undefined) return [['comparison', node.key as Tree, MONGO[name]]];
    return node.kind === 'init' && !node.method ? [['property', node, '']] : [];
  },
};

export function listMutations(text: string): readonly Mutation[] {
  const code = stripTypeScriptTypes(text);
  const found: Mutation[] = [];
  if (code.length !== text.length) return found;
  const source: Source = ({ start, end }) => text.slice(start, end);
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }) as Node as Tree, (node) => {
    if (isUnseen(node, source)) return false;
    for (const [kind, at, replacement] of OPERATORS[node.type]?.(node, source) ?? []) {
      const { start, end } = kind === 'property' ? withComma(code, at) : at;
      if (text.slice(start, end) !== replacement) found.push({ kind, start, end, replacement });
    }
    return true;
  });
  return found;
}

function visit(node: Tree, enter: (node: Tree) => boolean): void {
  if (node.type === 'ObjectPattern' || !enter(node)) return;
  for (const [field, value] of Object.entries(node)) {
    if (node.type === 'Property' && field === 'key') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child as Tree, enter);
    }
  }
}

function isUnseen(node: Tree, source: Source): boolean {
  if (node.type === 'ImportDeclaration') return true;
  // A mark, such as "not found": which negative number it is means nothing.
  if (node.type === 'UnaryExpression' && node.operator === '-' && node.argument.type === 'Literal') return true;
  if (node.type === 'NewExpression') return /Error$/.test(source(node.callee as Tree));
  const call = node.type === 'ExpressionStatement' ? node.expression : node;
  return call.type === 'CallExpression' && UNSEEN.test(source(call.callee as Tree));
}

function isText({ type, value }: Tree): boolean {
  return type === 'TemplateLiteral' || typeof value === 'string';
}

function leaves(statement: Tree): boolean {
  const last = statement.type === 'BlockStatement' ? (statement.body as readonly Tree[]).at(-1) : statement;
  return last !== undefined && /^(Return|Throw|Continue|Break)Statement$/.test(last.type);
}

function withComma(code: string, { start, end }: Place): Place {
  const [comma = ''] = /^\s*,/.exec(code.slice(end)) ?? [];
  return { start, end: end + comma.length };
}

/** Every place of a statement is one mutation. */
function mutateSql(node: Place, text: string): ReturnType<Operator> {
  if (!SQL.test(text)) return [];
  return SQL_SWAPS.flatMap(([pattern, to]) =>
    [...text.matchAll(pattern)].map((match) => {
      const at = node.start + match.index;
      const replacement = match[0].replace(new RegExp(pattern.source), to);
      return ['sql', { start: at, end: at + match[0].length }, replacement] as const;
    }),
  );
}
