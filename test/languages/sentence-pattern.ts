import ts from 'typescript';

/** What the sources say in one place, with `{}` for what is put in; undefined if it is no text. */
export function patternOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [patternOf(node.left), patternOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
