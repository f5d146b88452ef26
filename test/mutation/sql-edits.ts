import { shifted } from './code-edits.ts';
import { proposeWords, type Propose } from './edit.ts';

/** SQL as it stands in the file, and a copy of equal length in which everything that is not SQL is masked. */
export interface Sql {
  readonly raw: string;
  readonly masked: string;
}

/** Whether a text is SQL. Sentences for people begin with a capital letter or end with a period, and contain at most a word of SQL. */
export function isSql(masked: string): boolean {
  return (
    /\b(select|insert into|delete from|update|where|case|coalesce|greatest|null|exists|order by|for update)\b|[<>=]/.test(
      masked,
    ) && !/^\s*[A-Z]|\.\s*$/.test(masked)
  );
}

/** Proposes mistakes in SQL, or in a piece of it. An edit that Postgres refuses fails at once and does no harm. */
export function proposeInSql(input: Sql, propose: Propose): void {
  const sql = { raw: input.raw, masked: maskLiterals(input.masked) };
  proposeWords(sql.masked, words, propose);
  const conditions = findConditions(sql.masked);
  for (const { from, to, neutral } of conditions) propose('condition left out', from, to, neutral);
  proposeOperators(sql, conditions, propose);
  proposeNoChange(sql, propose);
  proposeFirstOfCoalesce(sql, propose);
  proposeBranches(sql, propose);
  proposeOrder(sql, propose);
  proposeAssignments(sql, propose);
  for (const match of sql.masked.matchAll(/(?<![\w$.'])\d+(?![\w.])/g)) {
    propose('number', match.index, match.index + match[0].length, shifted(match[0]));
  }
}

const words = [
  { rule: 'greatest and least', find: /\bgreatest(?=\()/g, to: 'least' },
  { rule: 'greatest and least', find: /\bleast(?=\()/g, to: 'greatest' },
  { rule: 'min and max', find: /\bmin(?=\()/g, to: 'max' },
  { rule: 'min and max', find: /\bmax(?=\()/g, to: 'min' },
  { rule: 'exists', find: /\bnot exists\b/g, to: 'exists' },
  { rule: 'exists', find: /(?<!\bnot )\bexists\b/g, to: 'not exists' },
  { rule: 'null', find: /\bis null\b/g, to: 'is not null' },
  { rule: 'null', find: /\bis not null\b/g, to: 'is null' },
  { rule: 'distinct from', find: /\bis distinct from\b/g, to: 'is not distinct from' },
  { rule: 'distinct from', find: /\bis not distinct from\b/g, to: 'is distinct from' },
  { rule: 'true and false', find: /\btrue\b/g, to: 'false' },
  { rule: 'true and false', find: /\bfalse\b/g, to: 'true' },
  { rule: 'left join', find: /\bleft join\b/g, to: 'join' },
  { rule: 'lock left out', find: /\bfor update( of \w+)?\b/g, to: '' },
  { rule: 'distinct left out', find: /\bselect distinct\b/g, to: 'select' },
  { rule: 'limit left out', find: /\blimit (\d+|\$\d+)/g, to: '' },
  { rule: 'desc and asc', find: /\bdesc\b/g, to: 'asc' },
  { rule: 'or and and', find: /\bor\b(?! replace)/g, to: 'and' },
  { rule: 'or and and', find: /(?<!\bbetween \S+ )\band\b/g, to: 'or' },
];

/** Replaces comments by blanks, and the content of string literals by letters. */
function maskLiterals(masked: string): string {
  return masked
    .replace(/--[^\n]*/g, (comment) => ' '.repeat(comment.length))
    .replace(/'[^']*'/g, (quoted) => `'${'x'.repeat(quoted.length - 2)}'`);
}

/** Proposes other operators, except for a condition that is one equation: leaving it out is the mistake that is harder to notice. */
function proposeOperators({ masked }: Sql, conditions: readonly Condition[], propose: Propose): void {
  for (const match of masked.matchAll(/(?<![<>=!:|-])(>=|<=|<>|>|<|=)(?![>=])/g)) {
    const [operator, place] = [match[0], match.index];
    const to = operators[operator];
    if (to === undefined || (operator === '=' && isAssignment(masked, place))) continue;
    const whole = conditions.some(
      ({ from, to: end }) => from < place && place < end && !/[(]|\bcase\b/.test(masked.slice(from, place)),
    );
    if (operator !== '=' || !whole) propose('operator', place, place + operator.length, to);
  }
}

const operators: Readonly<Record<string, string>> = {
  '>': '>=',
  '>=': '>',
  '<': '<=',
  '<=': '<',
  '=': '<>',
  '<>': '=',
};

/** Whether `set` is the keyword that governs the place. */
function isAssignment(masked: string, place: number): boolean {
  let depth = 0;
  for (const token of tokenize(masked.slice(0, place)).reverse()) {
    if (token.text === ')' || token.text === 'end') depth += 1;
    if (token.text === '(' || token.text === 'case') depth -= 1;
    if (depth < 0) return false;
    if (depth === 0 && governing.has(token.text)) return token.text === 'set';
  }
  return false;
}

const governing = new Set([
  ...['set', 'where', 'on', 'and', 'or', 'when', 'then', 'else', 'having', 'select', 'from', 'returning'],
]);

interface Condition {
  readonly from: number;
  readonly to: number;
  /** The text that replaces a condition left out. */
  readonly neutral: string;
}

function findConditions(masked: string): Condition[] {
  return tokenize(masked).flatMap(({ text, start, end }) => {
    const neutral = { where: 'true', and: 'true', or: 'false' }[text];
    if (neutral === undefined || /\bbetween \S+ $/.test(masked.slice(0, start))) return [];
    const from = end + (/^\s*/.exec(masked.slice(end))?.[0].length ?? 0);
    const to = endOfCondition(masked, end);
    return to > from ? [{ from, to, neutral }] : [];
  });
}

/** Makes a statement that changes rows change none. */
function proposeNoChange({ masked }: Sql, propose: Propose): void {
  for (const match of masked.matchAll(/\b(delete from|update (?=\w))/g)) {
    if (/\b(for|do) $/.test(masked.slice(0, match.index))) continue;
    const where = wordAtDepth(masked, match.index + match[0].length, 'where');
    if (where !== undefined) propose('changes nothing', where, where + 5, 'where false and');
  }
}

function endOfCondition(masked: string, from: number): number {
  let depth = 0;
  let between = false;
  let last = from;
  for (const { text, start, end } of tokenize(masked, from)) {
    if (depth === 0 && text === 'between') between = true;
    else if (depth === 0 && text === 'and' && between) between = false;
    else if (depth === 0 && ending.has(text)) return last;
    if (text === '(' || text === 'case') depth += 1;
    if (text === ')' || text === 'end') depth -= 1;
    if (depth < 0) return last;
    last = end > start ? end : last;
  }
  return last;
}

const ending = new Set([
  ...['and', 'or', 'group', 'order', 'limit', 'for', 'returning', 'union', 'on', 'then', 'offset'],
  ...['when', 'else', 'do', 'having', ',', ';', 'end', 'as'],
]);

function wordAtDepth(masked: string, from: number, word: string): number | undefined {
  let depth = 0;
  for (const { text, start } of tokenize(masked, from)) {
    if (depth === 0 && text === word) return start;
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth < 0) return undefined;
  }
  return undefined;
}

function proposeFirstOfCoalesce({ raw, masked }: Sql, propose: Propose): void {
  for (const match of masked.matchAll(/\bcoalesce\(/g)) {
    const inside = match.index + match[0].length;
    const [first] = splitParts(masked, inside);
    const close = splitParts(masked, inside).at(-1)?.end;
    if (first === undefined || close === undefined || close === first.end) continue;
    propose('fallback left out', match.index, close + 1, raw.slice(first.start, first.end).trim());
  }
}

/** The parts between commas, up to the parenthesis that closes the one open at `from`, or to the end of an assignment list. */
function splitParts(masked: string, from: number): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = [];
  let [depth, start, last] = [0, from, from];
  for (const token of tokenize(masked, from)) {
    const { text } = token;
    if (depth === 0 && (text === ',' || text === ')' || endOfList.has(text))) {
      parts.push({ start, end: text === ')' ? token.start : last });
      if (text !== ',') return parts;
      start = token.end;
    }
    if (text === '(' || text === 'case') depth += 1;
    if (text === ')' || text === 'end') depth -= 1;
    last = token.end;
  }
  return [...parts, { start, end: last }];
}

const endOfList = new Set(['from', 'where', 'returning']);

/** Swaps two consecutive branches, and the results of the last two. */
function proposeBranches({ raw, masked }: Sql, propose: Propose): void {
  for (const match of masked.matchAll(/\bcase\b/g)) {
    const marks = findCaseKeywords(masked, match.index + 4);
    const end = marks.at(-1);
    if (end?.text !== 'end') continue;
    const piece = (from: number, to: number): string => raw.slice(from, to).trim();
    const whens = marks.filter(({ text }) => text === 'when');
    whens.slice(0, -1).forEach((when, index) => {
      const next = whens[index + 1];
      const after = marks.find(({ text, start }) => start > (next?.start ?? 0) && text !== 'then');
      if (next === undefined || after === undefined) return;
      const swapped = `${piece(next.start, after.start)} ${piece(when.start, next.start)} `;
      propose('branches swapped', when.start, after.start, swapped);
    });
    const then = marks.findLast(({ text }) => text === 'then');
    const other = marks.find(({ text }) => text === 'else');
    if (then === undefined || other === undefined) continue;
    const swapped = `then ${piece(other.end, end.start)} else ${piece(then.end, other.start)} `;
    propose('branches swapped', then.start, end.start, swapped);
  }
}

/** `when`, `then`, `else` and `end` of the `case` that begins before `from`. */
function findCaseKeywords(masked: string, from: number): Token[] {
  const marks: Token[] = [];
  let depth = 0;
  for (const token of tokenize(masked, from)) {
    if (depth === 0 && ['when', 'then', 'else', 'end'].includes(token.text)) marks.push(token);
    if (depth === 0 && token.text === 'end') return marks;
    if (token.text === '(' || token.text === 'case') depth += 1;
    if (token.text === ')' || token.text === 'end') depth -= 1;
  }
  return marks;
}

function proposeOrder({ masked }: Sql, propose: Propose): void {
  for (const match of masked.matchAll(/\border by [^\n)]*?(?=\s*(\n|\)|$|\blimit\b))/g)) {
    const end = match.index + match[0].length;
    if (!/\b(desc|asc)\b/.test(match[0])) propose('desc and asc', end, end, ' desc');
  }
}

function proposeAssignments({ masked }: Sql, propose: Propose): void {
  for (const match of masked.matchAll(/\bset\b(?=\s)/g)) {
    const parts = splitParts(masked, match.index + match[0].length);
    if (parts.length < 2) continue;
    parts.forEach(({ start, end }, index) => {
      // Also removes the comma before it; for the first one, the comma after it.
      if (index > 0) propose('assignment left out', start - 1, end, '');
      else propose('assignment left out', start, end + 1, '');
    });
  }
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function tokenize(masked: string, from = 0): Token[] {
  return [...masked.slice(from).matchAll(/[\w$]+|\S/g)].map((match) => ({
    text: match[0],
    start: from + match.index,
    end: from + match.index + match[0].length,
  }));
}
