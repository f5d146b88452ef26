import ts from 'typescript';
import type { Edit } from './edit.ts';
import { proposeInSql, isSql } from './sql-edits.ts';
import { proposeInCode } from './code-edits.ts';

/**
 * Every mistake that the rules can make in a source file, in the order of the file: in its code and in the SQL of its literals. Imports,
 * types, comments and the names of statements are left alone.
 */
export function findEdits(text: string): Edit[] {
  const edits = new Map<string, Edit>();
  const propose = (rule: string, start: number, end: number, to: string): void => {
    if (text.slice(start, end) === to) return;
    const key = JSON.stringify([start, end, to]);
    if (!edits.has(key)) edits.set(key, { rule, start, end, to });
  };
  const visit = (node: ts.Node): void => {
    if (isWithoutEffect(node)) return;
    const sql = literalIn(node, text);
    if (sql === undefined) proposeInCode(node, text, propose);
    else if (isSql(sql.masked)) {
      const raw = text.slice(sql.start, sql.start + sql.masked.length);
      proposeInSql({ raw, masked: sql.masked }, (rule, start, end, to) => {
        propose(rule, sql.start + start, sql.start + end, to);
      });
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true), visit);
  return [...edits.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

function isWithoutEffect(node: ts.Node): boolean {
  return (
    ts.isImportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeNode(node) ||
    // The name of a statement or an error changes nothing.
    ((ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node)) && node.name.getText() === 'name')
  );
}

/** The text of a literal, with interpolations replaced by as many letters. */
function literalIn(node: ts.Node, text: string): { start: number; masked: string } | undefined {
  const start = node.getStart() + 1;
  const content = text.slice(start, node.end - 1);
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return { start, masked: content };
  if (!ts.isTemplateExpression(node)) return undefined;
  let masked = content;
  for (const { expression, literal } of node.templateSpans) {
    const from = expression.pos - 2 - start;
    const to = literal.getStart() + 1 - start;
    masked = masked.slice(0, from) + 'x'.repeat(to - from) + masked.slice(to);
  }
  return { start, masked };
}
