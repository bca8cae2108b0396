import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import ts from 'typescript';

/** One import of a source file. */
export interface Import {
  /** The file that imports, below the repository's folder. */
  from: string;
  /**
   * A file below the repository's folder, or the name of a package or of a part of Node
   * (`node:fs`).
   */
  to: string;
  isFile: boolean;
  /** Whether only types come with it, so that it is gone when the program runs. */
  isType: boolean;
}

export const REPOSITORY = join(import.meta.dirname, '..');

/**
 * Files below a folder of the repository, as paths from it. What is installed or built is left out.
 */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(REPOSITORY, folder), { withFileTypes: true });
  const kept = entries.filter(
    ({ name }) => !['node_modules', 'dist', 'demo', '.git'].includes(name),
  );
  return kept.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

export function readSource(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

export function parseSource(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readSource(path), ts.ScriptTarget.ES2023, true);
}

export function importsOf(path: string): Import[] {
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, isType: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const isFile = specifier.text.startsWith('.');
    imports.push({
      from: path,
      to: isFile ? normalize(join(dirname(path), specifier.text)) : packageIn(specifier.text),
      isFile,
      isType,
    });
  };
  visit(parseSource(path), (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node));
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
  });
  return imports;
}

function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false;
  const { phaseModifier, name, namedBindings } = importClause;
  if (phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  if (name !== undefined || namedBindings === undefined || ts.isNamespaceImport(namedBindings)) {
    return false;
  }
  return (
    namedBindings.elements.length > 0 &&
    namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}

function packageIn(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

/**
 * Every function of a file, by where it begins, with its lines; those that hold nothing but a
 * comment do not count, nor do suites of tests.
 */
export function functionsOf(path: string): { where: string; lineCount: number }[] {
  const source = parseSource(path);
  const functions: { where: string; lineCount: number }[] = [];
  visit(source, (node) => {
    if (!ts.isFunctionLike(node) || isSuite(node)) return;
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const lines = node
      .getText(source)
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line));
    functions.push({ where: `${path}:${first + 1}`, lineCount: lines.length });
  });
  return functions;
}

/** The callback of a `describe` is a list of tests, not a function to be read at once. */
function isSuite({ parent }: ts.Node): boolean {
  return ts.isCallExpression(parent) && /^describe\b/.test(parent.expression.getText());
}
