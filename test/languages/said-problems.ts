import ts from 'typescript';

import {
  createProblem,
  PROBLEM_CODES,
  type Problem,
  type ProblemCode,
} from '../../src/package-management/problem.ts';
import { filesBelow, parseSource, visit } from '../source-tree.ts';
import { patternOf } from './sentence-pattern.ts';

/** Who starts the daemon reads these, and programs of the forge. */
const OF_OTHERS = /^src\/(?:cli|config|device|features\/forge)\b/;
/** What is put in, and what a sentence of a failed task begins with. */
const VALUES = ['libdemo', '2.0', 'demo'];
const TASK = 'cannot install demo: ';

/**
 * A problem for each cause and each remedy that the sources say beside a code, made as the daemon
 * makes them; of a code that is said nowhere by name one with the remedy of the code.
 */
export function saidProblems(): Problem[] {
  const found = filesBelow('src')
    .filter((path) => path.endsWith('.ts') && !OF_OTHERS.test(path))
    .flatMap(problemsIn);
  const rest = PROBLEM_CODES.filter((code) => found.every((one) => one.code !== code));
  return [...found, ...rest.map((code) => createProblem(code, `${TASK}stopped on request`))];
}

function problemsIn(path: string): Problem[] {
  const found: Problem[] = [];
  visit(parseSource(path), (node) => {
    if (ts.isObjectLiteralExpression(node)) found.push(...objectProblems(node));
    if (ts.isVariableDeclaration(node)) found.push(...causesIn(node));
    if (!ts.isCallExpression(node)) return;
    const texts = node.arguments.flatMap(textsOf);
    const code = texts.find(isCode);
    const message = texts.find((text) => text.startsWith('cannot '));
    if (code !== undefined && message !== undefined) found.push(problem(code, message));
  });
  return found;
}

/** A cause that is worked out ahead of its problem. */
function causesIn({ name, initializer }: ts.VariableDeclaration): Problem[] {
  if (initializer === undefined || !/^(?:why|reason|only|message)$/.test(name.getText())) return [];
  return textsOf(initializer).flatMap((text) => (text === '' ? [] : [problem('unknown', text)]));
}

/** `{ code: 'held', reason: …, remedy: … }`, in whatever order. */
function objectProblems({ properties }: ts.ObjectLiteralExpression): Problem[] {
  const textOf = (name: string): string[] => {
    const found = properties.find((each) => each.name?.getText() === name);
    return found !== undefined && ts.isPropertyAssignment(found) ? textsOf(found.initializer) : [];
  };
  const [code] = textOf('code').filter(isCode);
  if (code === undefined) return [];
  const causes = [...textOf('reason'), ...textOf('message')].map((text) => problem(code, text));
  const advice = textOf('remedy').map((remedy) => ({
    ...problem(code, 'stopped on request'),
    remedy: filled(remedy),
  }));
  return [...causes, ...advice];
}

/** Of a choice between several, each; of a function what it returns. */
function textsOf(node: ts.Expression): string[] {
  if (ts.isArrowFunction(node)) return ts.isBlock(node.body) ? [] : textsOf(node.body);
  if (ts.isConditionalExpression(node)) {
    return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  }
  return [patternOf(node) ?? []].flat();
}

function problem(code: ProblemCode, text: string): Problem {
  const message = filled(
    text
      .replace(/^cannot \{\}(?: \{\})?: /, TASK)
      .replace(/^cannot \{\}(?= packages)/, 'cannot install'),
  );
  return createProblem(code, message.startsWith('cannot ') ? message : TASK + message, 'libdemo');
}

/** Where a number stands the sentence is said with one: its translation asks for it. */
function filled(pattern: string): string {
  let count = 0;
  return pattern
    .replaceAll(/\{\}(?= (?:are|more|bytes|steps|minutes|files|versions)\b)/g, '7')
    .replaceAll('{}', () => VALUES[count++ % VALUES.length] ?? '');
}

function isCode(text: string): text is ProblemCode {
  return PROBLEM_CODES.some((code) => code === text);
}
