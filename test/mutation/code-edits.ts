import ts from 'typescript';
import type { Propose } from './edit.ts';

/** Proposes mistakes in one node of the code. Its children get theirs when they are visited. */
export function proposeInCode(node: ts.Node, text: string, propose: Propose): void {
  const source = (part: ts.Node): string => text.slice(part.getStart(), part.end);
  const replace = (rule: string, part: ts.Node, to: string): void => {
    propose(rule, part.getStart(), part.end, to);
  };
  if (ts.isBinaryExpression(node)) {
    const to = operators[source(node.operatorToken)];
    if (to !== undefined) replace('operator', node.operatorToken, to);
    if (source(node.operatorToken) === '??') replace('fallback left out', node, source(node.left));
  } else if (ts.isConditionalExpression(node)) {
    const { condition, whenTrue, whenFalse } = node;
    replace('branches swapped', node, `${source(condition)} ? ${source(whenFalse)} : ${source(whenTrue)}`);
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    replace('not left out', node, source(node.operand));
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) {
    replace('true and false', node, 'false');
  } else if (node.kind === ts.SyntaxKind.FalseKeyword) {
    replace('true and false', node, 'true');
  } else if (ts.isNumericLiteral(node)) {
    replace('number', node, shifted(source(node)));
  } else if (ts.isExpressionStatement(node)) {
    replace(
      ts.isAwaitExpression(node.expression) ? 'awaited call left out' : 'statement left out',
      node,
      ';',
    );
  } else if (ts.isIfStatement(node) && node.elseStatement === undefined) {
    replace('condition never holds', node.expression, 'false');
  } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression: object, name } = node.expression;
    if (name.text === 'filter') replace('filter left out', node, source(object));
    if (name.text === 'some') replace('some and every', name, 'every');
    if (name.text === 'every') replace('some and every', name, 'some');
  }
}

const operators: Readonly<Record<string, string>> = {
  '>': '>=',
  '>=': '>',
  '<': '<=',
  '<=': '<',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};

/** The next number; 0 for 1. */
export function shifted(number: string): string {
  const value = Number(number.replaceAll('_', ''));
  return value === 1 ? '0' : String(value + 1);
}
